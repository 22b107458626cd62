#!/usr/bin/env bash
# Starts the job inside the Flink image, from the newest checkpoint or savepoint if there is one:
# without it, a restarted JobManager would accept every key a second time.
set -euo pipefail

jar=${JOB_JAR:-/opt/flink/usrlib/firstseen-job.jar}
if [ ! -f "$jar" ]; then
  # If the mounted file does not exist, Docker creates an empty directory in its place.
  echo "no job jar: build it as docker-compose.yml says, after removing the directory in its place" >&2
  exit 2
fi

newest=$(find "${CHECKPOINTS:-/checkpoints}" -mindepth 3 -maxdepth 3 -name _metadata \
  -printf '%T@ %h\n' | sort -rn | head -n 1 | cut -d ' ' -f 2-)

# Flink accepts abbreviations of its own options, so the job's arguments follow two dashes.
exec "${FLINK_ENTRYPOINT:-/docker-entrypoint.sh}" standalone-job \
  --job-classname io.firstseen.jobs.PipelineJob \
  ${newest:+--fromSavepoint "$newest"} -- "$@"
