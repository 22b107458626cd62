package io.firstseen.jobs.shared;

/** The output of a dedup job for events that change the live keys. */
public enum Output {
  /** The changelog of live keys. */
  CHANGELOG,
  /** The unchanged input records. */
  RECORD,
  /** The changelog and the records. */
  BOTH;

  /** Whether the changelog is written. */
  public boolean hasChangelog() {
    return this != RECORD;
  }

  /** Whether the records are forwarded. */
  public boolean hasRecords() {
    return this != CHANGELOG;
  }
}
