package io.firstseen.consumer;

/**
 * What can be said of a client in numbers, at one moment. Counters begin at 0 when the client
 * starts.
 *
 * @param state its state
 * @param sequence of what answers; -1 if nothing does
 * @param keys that live by what answers
 * @param setBytes the length of the snapshots that answer
 * @param ageMillis since the manifest that answers was written to the topic; -1 if none does
 * @param snapshots counts those that came to answer
 * @param refusals counts what was refused
 * @param outages counts how often the topic could not be read
 * @param readRecords counts records read from the topic, of use or not
 * @param readBytes counts the bytes of their values
 * @param fetchedBytes counts the bytes of the blobs that became part of a snapshot
 * @param lastLoadMillis how long the last snapshot took, from the first of its records to its first
 *     answer
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
