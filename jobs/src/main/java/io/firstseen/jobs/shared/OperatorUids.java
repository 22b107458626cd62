package io.firstseen.jobs.shared;

/**
 * The uids of the jobs' operators, which map a savepoint's state to operators. If a uid changes,
 * the operator's state is lost. Dedup and compaction define their own uids, {@code firstseen-…} and
 * {@code <set>-…}.
 */
public final class OperatorUids {
  /** The source of events, or of the accepted changelog. */
  public static final String SOURCE = "events-source";

  /** Skips records of the accepted changelog that are not changes. */
  public static final String WELL_FORMED = "events-well-formed";

  /** Converts unusable events into dead letters. */
  public static final String DEAD_LETTERS = "outcomes-dead-letters";

  /** Writes dead letters. */
  public static final String DEAD_LETTERS_SINK = "dead-letters-sink";

  /** Writes the outcomes of usable events. */
  public static final String OUTCOMES_SINK = "outcomes-sink";

  /** Ensures that only one job writes the output of a dedup. */
  public static final String ONE_WRITER = "one-writer";

  /** Converts accepted changes into hashed operations. */
  public static final String HASHED = "snapshots-hashed";

  /** Writes blobs into a directory. */
  public static final String BLOB_DIRECTORY = "snapshots-blob-directory";

  /** Signs manifests. */
  public static final String SIGNED = "snapshots-signed";

  /** Ensures that a set has only one publisher. */
  public static final String PUBLISHER = "snapshots-publisher";

  /** Writes snapshots. */
  public static final String SNAPSHOTS_SINK = "snapshots-sink";

  private OperatorUids() {}
}
