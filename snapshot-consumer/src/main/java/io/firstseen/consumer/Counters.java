package io.firstseen.consumer;

import java.util.concurrent.atomic.AtomicLong;

/** What the following thread counts and others read. */
final class Counters {
  final AtomicLong snapshots = new AtomicLong();
  final AtomicLong refusals = new AtomicLong();
  final AtomicLong outages = new AtomicLong();
  final AtomicLong readRecords = new AtomicLong();
  final AtomicLong readBytes = new AtomicLong();
  final AtomicLong fetchedBytes = new AtomicLong();
  final AtomicLong lastLoadMillis = new AtomicLong();
}
