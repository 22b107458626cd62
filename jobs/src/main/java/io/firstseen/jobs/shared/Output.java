package io.firstseen.jobs.shared;

/** The output of a dedup job for events that change the live keys. */
public enum Output {
  CHANGELOG,
  RECORD,
  BOTH;

  public boolean hasChangelog() {
    return this != RECORD;
  }

  public boolean hasRecords() {
    return this != CHANGELOG;
  }
}
