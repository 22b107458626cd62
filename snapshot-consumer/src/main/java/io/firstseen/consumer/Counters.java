package io.firstseen.consumer;

import java.util.concurrent.atomic.AtomicLong;

/** Counters that the following thread writes and any thread reads. */
final class Counters {
  final AtomicLong snapshots = new AtomicLong();
  final AtomicLong refusals = new AtomicLong();
  final AtomicLong outages = new AtomicLong();
  final AtomicLong readRecords = new AtomicLong();
  final AtomicLong readBytes = new AtomicLong();
  final AtomicLong fetchedBytes = new AtomicLong();
  final AtomicLong lastLoadMillis = new AtomicLong();
}
