#!/usr/bin/env bash
# Starts the job inside the Flink image, from the newest checkpoint or savepoint if there is one:
# without it, a JobManager that is started again would accept every key a second time.
set -euo pipefail

jar=${JOB_JAR:-/opt/flink/usrlib/firstseen-job.jar}
if [ ! -f "$jar" ]; then
  # Docker mounts a file that does not exist as an empty directory, which it makes.
  echo "no job jar: build it as docker-compose.yml says, after removing the directory in its place" >&2
  exit 2
fi

newest=$(find "${CHECKPOINTS:-/checkpoints}" -mindepth 3 -maxdepth 3 -name _metadata \
  -printf '%T@ %h\n' | sort -rn | head -n 1 | cut -d ' ' -f 2-)

# Flink takes abbreviations of its own options; what follows the two dashes is the job's.
exec "${FLINK_ENTRYPOINT:-/docker-entrypoint.sh}" standalone-job \
  --job-classname io.firstseen.jobs.PipelineJob \
  ${newest:+--fromSavepoint "$newest"} -- "$@"
