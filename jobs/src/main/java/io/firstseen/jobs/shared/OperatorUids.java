package io.firstseen.jobs.shared;

/**
 * The uids of the jobs' operators, which map a savepoint's state to operators. Changing one loses
 * that state. The uids in dedup and compaction, {@code firstseen-…} and {@code <set>-…}, are
 * defined there.
 */
public final class OperatorUids {
  /** The source of events, or of the accepted changelog. */
  public static final String SOURCE = "events-source";

  /** Passes over records of the accepted changelog that are no changes. */
  public static final String WELL_FORMED = "events-well-formed";

  /** Turns events that cannot be used into outcomes. */
  public static final String DEAD_LETTERS = "outcomes-dead-letters";

  /** Writes these. */
  public static final String DEAD_LETTERS_SINK = "dead-letters-sink";

  /** Writes the outcomes of all other events. */
  public static final String OUTCOMES_SINK = "outcomes-sink";

  /** Ensures that one job writes the output of a dedup. */
  public static final String ONE_WRITER = "one-writer";

  /** Turns accepted changes into hashed operations. */
  public static final String HASHED = "snapshots-hashed";

  /** Writes blobs into a directory. */
  public static final String BLOB_DIRECTORY = "snapshots-blob-directory";

  /** Signs manifests. */
  public static final String SIGNED = "snapshots-signed";

  /** Ensures that a set has one publisher. */
  public static final String PUBLISHER = "snapshots-publisher";

  /** Writes snapshots. */
  public static final String SNAPSHOTS_SINK = "snapshots-sink";

  private OperatorUids() {}
}
