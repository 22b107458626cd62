package io.firstseen.benchmarks.alternatives;

/**
 * How one run of one alternative ended, and what it measured until then.
 *
 * @param keys different keys of the input
 */
record RunResult(Alternative alternative, long keys, End end, Progress progress) {
  enum End {
    FINISHED,
    OUT_OF_MEMORY,
    /** It was killed after the time that a run may take. */
    LATE,
    /** Any other end; the errors of the process say more. */
    FAILED,
    NOT_INSTALLED
  }
}
