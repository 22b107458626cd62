package io.firstseen.consumer;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;

/**
 * The {@link SnapshotMetrics} of a client or a directory as meters of Micrometer, tagged with the
 * name of the set; {@code docs/operations/metrics.md} lists them. Needs {@code micrometer-core},
 * which is an optional dependency.
 *
 * <p>The meters do not keep a client from being collected. What a snapshot has is not a number
 * while there is none.
 */
public final class SnapshotClientMetrics implements MeterBinder {
  /** The tag with the name of the set. */
  public static final String SET = "set";

  /** The tag of the gauges of {@code firstseen.snapshot.state}: the state in lower case. */
  public static final String STATE = "state";

  private static final String PREFIX = "firstseen.snapshot.";

  private final FollowedState followed;
  private final Tags tags;

  private SnapshotClientMetrics(FollowedState followed, Iterable<Tag> tags) {
    this.followed = followed;
    this.tags = Tags.concat(tags, SET, followed.setName());
  }

  /** The meters of a client. */
  public static SnapshotClientMetrics of(SnapshotClient client) {
    return of(client, Tags.empty());
  }

  /**
   * The meters of a client, with further tags: two clients of sets of one name need them, or the
   * second is not counted.
   */
  public static SnapshotClientMetrics of(SnapshotClient client, Iterable<Tag> tags) {
    return new SnapshotClientMetrics(client.shown(), tags);
  }

  /** The meters of a directory. */
  public static SnapshotClientMetrics of(FollowedDirectory directory) {
    return of(directory, Tags.empty());
  }

  /** The meters of a directory, with further tags. */
  public static SnapshotClientMetrics of(FollowedDirectory directory, Iterable<Tag> tags) {
    return new SnapshotClientMetrics(directory.shown(), tags);
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    for (ClientState state : ClientState.values()) {
      Gauge.builder(PREFIX + "state", followed, of -> of.metrics().state() == state ? 1 : 0)
          .description("1 in the state that the tag names, else 0")
          .tags(tags)
          .tag(STATE, state.name().toLowerCase(Locale.ROOT))
          .register(registry);
    }
    TimeGauge.builder(
            PREFIX + "age",
            followed,
            TimeUnit.MILLISECONDS,
            of -> ifAny(of, SnapshotMetrics::ageMillis))
        .description("Time since the snapshot that answers was published")
        .tags(tags)
        .register(registry);
    gauge(registry, "sequence", null, "Sequence of the snapshot", SnapshotMetrics::sequence);
    gauge(registry, "keys", "keys", "Keys of the snapshot", SnapshotMetrics::keys);
    gauge(registry, "bytes", "bytes", "Size of the snapshot", SnapshotMetrics::setBytes);
    TimeGauge.builder(
            PREFIX + "load",
            followed,
            TimeUnit.MILLISECONDS,
            of -> ifAny(of, SnapshotMetrics::lastLoadMillis))
        .description("Time from the first record of the snapshot until it answered")
        .tags(tags)
        .register(registry);
    counter(registry, "loaded", null, "Snapshots that have answered", SnapshotMetrics::snapshots);
    counter(
        registry,
        "refused",
        null,
        "Manifests and blobs that could not be used",
        SnapshotMetrics::refusals);
    counter(
        registry,
        "outages",
        null,
        "Times that the topic or directory could not be read",
        SnapshotMetrics::outages);
    counter(registry, "read", "bytes", "Values of records read", SnapshotMetrics::readBytes);
    counter(
        registry, "fetched", "bytes", "Blobs that led to snapshots", SnapshotMetrics::fetchedBytes);
  }

  private void gauge(
      MeterRegistry registry,
      String name,
      String unit,
      String description,
      ToLongFunction<SnapshotMetrics> value) {
    Gauge.builder(PREFIX + name, followed, of -> ifAny(of, value))
        .description(description + " that answers")
        .baseUnit(unit)
        .tags(tags)
        .register(registry);
  }

  private void counter(
      MeterRegistry registry,
      String name,
      String unit,
      String description,
      ToLongFunction<SnapshotMetrics> value) {
    FunctionCounter.builder(PREFIX + name, followed, of -> value.applyAsLong(of.metrics()))
        .description(description)
        .baseUnit(unit)
        .tags(tags)
        .register(registry);
  }

  /** A value of the snapshot that answers; not a number if there is none. */
  private static double ifAny(FollowedState followed, ToLongFunction<SnapshotMetrics> value) {
    SnapshotMetrics metrics = followed.metrics();
    return metrics.sequence() < 0 ? Double.NaN : value.applyAsLong(metrics);
  }
}
