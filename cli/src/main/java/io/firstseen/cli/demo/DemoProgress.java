package io.firstseen.cli.demo;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import io.firstseen.cli.shared.Progress;
import io.firstseen.serializers.Outcome;
import java.io.PrintWriter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Shows the counts of a running demo below a heading. On a terminal, one line is overwritten;
 * otherwise a line is printed every second.
 */
final class DemoProgress implements AutoCloseable {
  private static final String ROW = "%5s %9s %9s %11s %8s %13s %10s %8s";
  private static final String HEAD =
      " time  events/s  accepted  duplicates  deleted  dead letters  snapshots     keys";
  private static final String WIPE = "\r\u001b[K";
  private static final long TERMINAL_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long LINES_INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** The period over which the rate is averaged. */
  private static final long RATE_NANOS = TimeUnit.SECONDS.toNanos(3);

  private final PrintWriter err;
  private final boolean isTerminal;
  private final long startNanos = System.nanoTime();
  private final Deque<Sample> samples = new ArrayDeque<>();
  private long shownNanos;
  private boolean hasHead;

  private record Sample(long nanos, long events) {}

  DemoProgress(PrintWriter err) {
    this.err = err;
    this.isTerminal = Boolean.getBoolean(Progress.TERMINAL_PROPERTY);
  }

  /** Shows the counts, unless they were shown very recently. */
  void show(Map<Outcome.Kind, Long> counts, long snapshots, long snapshotKeys) {
    long nowNanos = System.nanoTime();
    long intervalNanos = isTerminal ? TERMINAL_INTERVAL_NANOS : LINES_INTERVAL_NANOS;
    if (!hasHead) {
      err.println(HEAD);
      hasHead = true;
    } else if (nowNanos - shownNanos < intervalNanos) {
      return;
    }
    shownNanos = nowNanos;
    long events = counts.values().stream().mapToLong(Long::longValue).sum();
    String line =
        ROW.formatted(
            (nowNanos - startNanos) / 1_000_000_000 + " s",
            number(eventsPerSecond(nowNanos, events)),
            number(counts.get(Outcome.Kind.ACCEPTED)),
            number(counts.get(Outcome.Kind.DUPLICATE)),
            number(counts.get(Outcome.Kind.REMOVED)),
            number(counts.get(Outcome.Kind.DEAD_LETTER)),
            number(snapshots),
            number(snapshotKeys));
    if (isTerminal) {
      err.print(WIPE + line);
      err.flush();
    } else {
      err.println(line);
    }
  }

  private long eventsPerSecond(long nowNanos, long events) {
    samples.add(new Sample(nowNanos, events));
    while (samples.size() > 2 && nowNanos - samples.getFirst().nanos() > RATE_NANOS) {
      samples.remove();
    }
    Sample first = samples.getFirst();
    return samples.size() < 2
        ? 0
        : Math.round((events - first.events()) * 1e9 / (nowNanos - first.nanos()));
  }

  /** Ends the last line and keeps it on the screen. */
  @Override
  public void close() {
    if (isTerminal && hasHead) {
      err.println();
    }
  }
}
