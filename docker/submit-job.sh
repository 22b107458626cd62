#!/usr/bin/env bash
# Submits a job to the session cluster, unless it is there: submit-job.sh CLASS NAME [ARGUMENT…].
# FROM is the checkpoint or savepoint to start from, empty for none. A cluster that starts again
# brings back its jobs by itself, from their last checkpoints.
set -euo pipefail

class=$1
name=$2
shift 2
jar=${JOB_JAR:-/opt/flink/usrlib/firstseen-job.jar}
if [ ! -f "$jar" ]; then
  # If the mounted file does not exist, Docker creates an empty directory in its place.
  echo "no job jar: build it as docker-compose.yml says, after removing the directory in its place" >&2
  exit 2
fi

# The states from which a job does not come back.
ended='FINISHED|FAILED|CANCELED'
jobs=$("${FETCH:-wget}" -q -O - "http://${JOBMANAGER:-jobmanager:8081}/jobs/overview") || {
  echo "the jobs of ${JOBMANAGER:-jobmanager:8081} cannot be read (status $?)" >&2
  exit 3
}
if echo "$jobs" | grep -o '{[^{}]*"name":"'"$name"'"[^{}]*' | grep -qvE '"state":"('"$ended"')"'; then
  echo "$name is there already"
  exit 0
fi
exec "${FLINK:-flink}" run --detached --jobmanager "${JOBMANAGER:-jobmanager:8081}" \
  ${FROM:+--fromSavepoint "$FROM"} --class "$class" "$jar" "$@"
