package io.firstseen.jobs.shared;

/** What a dedup job writes of the events that change the live keys. */
public enum Output {
  /** The changelog of live keys. */
  CHANGELOG,
  /** The records themselves, as they came. */
  RECORD,
  /** Both. */
  BOTH;

  /** Whether the changelog is written. */
  public boolean hasChangelog() {
    return this != RECORD;
  }

  /** Whether the records are passed on. */
  public boolean hasRecords() {
    return this != CHANGELOG;
  }
}
