package io.firstseen.consumer;

/**
 * The metrics of a client at one moment. Counters begin at 0 when the client starts.
 *
 * @param state its state
 * @param sequence of the current snapshot; -1 if there is none
 * @param keys live keys in the current snapshot
 * @param setBytes the length of the current snapshot, in bytes
 * @param ageMillis age of the current manifest, since it was published; -1 if there is none
 * @param snapshots counts the snapshots that became active
 * @param refusals counts the calls of {@link SnapshotListener#onRefused}
 * @param outages counts how often the topic could not be read
 * @param readRecords counts records read from the topic, used or not
 * @param readBytes counts the bytes of their values
 * @param fetchedBytes counts the bytes of the blobs that were loaded for these snapshots
 * @param lastLoadMillis the time from the first record of the last snapshot until it became active
 */
public record SnapshotMetrics(
    ClientState state,
    long sequence,
    long keys,
    long setBytes,
    long ageMillis,
    long snapshots,
    long refusals,
    long outages,
    long readRecords,
    long readBytes,
    long fetchedBytes,
    long lastLoadMillis) {}
