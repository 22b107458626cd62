package io.firstseen.jobs.shared;

/**
 * The uids of the jobs' operators, which map a savepoint's state to operators. If a uid changes,
 * the operator's state is lost. Dedup and compaction define their own uids, {@code firstseen-…} and
 * {@code <set>-…}.
 */
public final class OperatorUids {
  public static final String SOURCE = "events-source";
  public static final String WELL_FORMED = "events-well-formed";
  public static final String DEAD_LETTERS = "outcomes-dead-letters";
  public static final String DEAD_LETTERS_SINK = "dead-letters-sink";
  public static final String OUTCOMES_SINK = "outcomes-sink";
  public static final String ONE_WRITER = "one-writer";
  public static final String HASHED = "snapshots-hashed";
  public static final String BLOB_DIRECTORY = "snapshots-blob-directory";
  public static final String SIGNED = "snapshots-signed";
  public static final String PUBLISHER = "snapshots-publisher";
  public static final String SNAPSHOTS_SINK = "snapshots-sink";

  private OperatorUids() {}
}
