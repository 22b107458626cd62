package io.firstseen.jobs.shared;

/**
 * The uids of the jobs' operators, which map a savepoint's state to operators. Changing one loses
 * that state. The uids in dedup and compaction, {@code firstseen-…} and {@code <set>-…}, are
 * defined there.
 */
public final class OperatorUids {
  /** The source of events, or of the accepted changelog. */
  public static final String SOURCE = "events-source";

  /** Separates events that could not be parsed. */
  public static final String WELL_FORMED = "events-well-formed";

  /** Turns accepted changes into outcomes. */
  public static final String ACCEPTED = "outcomes-accepted";

  /** Turns duplicates into outcomes. */
  public static final String DUPLICATES = "outcomes-duplicates";

  /** Turns false duplicates that the audit found into outcomes. */
  public static final String FALSE_DUPLICATES = "outcomes-false-duplicates";

  /** Turns unknown deletes into outcomes. */
  public static final String UNKNOWN_DELETES = "outcomes-unknown-deletes";

  /** Turns events without a usable key into outcomes. */
  public static final String DEAD_LETTERS = "outcomes-dead-letters";

  /** Writes outcomes. */
  public static final String OUTCOMES_SINK = "outcomes-sink";

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
