package io.firstseen.operators.compaction;

import io.firstseen.filters.snapshot.Manifest;
import java.io.IOException;
import java.time.Instant;
import java.util.Optional;
import org.apache.flink.api.common.accumulators.LongCounter;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.metrics.Counter;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds manifests whose number of live keys jumps, so that an upstream failure does not empty the
 * set of every consumer. Each manifest is compared with the last published manifest, regardless of
 * how many were held since. Manifests are therefore held until the number is back within the bounds
 * or the jump is allowed. After a take-over, the gate also holds windows that are older than the
 * newest window that consumers have.
 */
final class PublishingGate {
  private static final Logger LOG = LoggerFactory.getLogger(PublishingGate.class);

  private final Publication publication;
  // Sequence and live keys of the last manifest that was published.
  private final ValueState<Tuple2<Long, Long>> lastPublished;
  private final Counter heldWindows;
  private final LongCounter heldInAll = new LongCounter();
  private boolean holding;

  PublishingGate(Publication publication, RuntimeContext context) {
    this.publication = publication;
    this.lastPublished =
        context.getState(
            new ValueStateDescriptor<>("lastPublished", Types.TUPLE(Types.LONG, Types.LONG)));
    heldWindows = context.getMetricGroup().counter("heldWindows");
    context.getMetricGroup().gauge("holding", () -> holding ? 1 : 0);
    context.addAccumulator(Snapshots.HELD_WINDOWS, heldInAll);
  }

  /**
   * Returns whether a manifest may be published. If so, the caller must publish it, because it is
   * recorded as the last published manifest.
   */
  boolean mayPublish(Manifest manifest) throws IOException {
    Tuple2<Long, Long> own = lastPublished.value();
    Publication.TakenOver other = publication.takenOver();
    boolean isTakeOver = other.sequence() > (own == null ? 0 : own.f0);
    if (isTakeOver && manifest.windowEndMillis() < other.windowEndMillis()) {
      hold();
      LOG.warn(
          "publication of set {} is on hold after sequence {}, which was taken over: its window ends"
              + " at {}, the new one earlier, at {}",
          manifest.setName(),
          other.sequence(),
          Instant.ofEpochMilli(other.windowEndMillis()),
          Instant.ofEpochMilli(manifest.windowEndMillis()));
      return false;
    }
    // The newest manifest that consumers have.
    Tuple2<Long, Long> last = isTakeOver ? Tuple2.of(other.sequence(), other.count()) : own;
    if (last != null) {
      Optional<String> breach = publication.bounds().breach(last.f1, manifest.count());
      if (breach.isPresent() && last.f0 != publication.jumpAllowedAfter()) {
        hold();
        warnOfJump(manifest, last, breach.get());
        return false;
      }
      if (holding || breach.isPresent()) {
        LOG.info(
            "set {} is published again: {} live keys, after {} in sequence {}",
            manifest.setName(),
            manifest.count(),
            last.f1,
            last.f0);
      }
    }
    holding = false;
    lastPublished.update(Tuple2.of(manifest.sequence(), manifest.count()));
    return true;
  }

  private void hold() {
    holding = true;
    heldWindows.inc();
    heldInAll.add(1);
  }

  private static void warnOfJump(Manifest manifest, Tuple2<Long, Long> last, String breach) {
    LOG.warn(
        "publication of set {} is on hold after sequence {}: {} keys are live at the end of the"
            + " window, {}, after {} in that manifest, but {}. To publish it, restart the job from"
            + " its state with --allow-jump-after {} or with a wider bound.",
        manifest.setName(),
        last.f0,
        manifest.count(),
        Instant.ofEpochMilli(manifest.windowEndMillis()),
        last.f1,
        breach,
        last.f0);
  }
}
