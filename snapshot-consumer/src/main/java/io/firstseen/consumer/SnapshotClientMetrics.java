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
 * <p>The meters do not prevent garbage collection of a client. Gauges of the snapshot are NaN while
 * there is no snapshot.
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

  /** Creates the meters of a client. */
  public static SnapshotClientMetrics of(SnapshotClient client) {
    return of(client, Tags.empty());
  }

  /**
   * Creates the meters of a client with additional tags, which are required if two clients follow
   * sets with the same name. Without them, the second client is not counted.
   */
  public static SnapshotClientMetrics of(SnapshotClient client, Iterable<Tag> tags) {
    return new SnapshotClientMetrics(client.shown(), tags);
  }

  /** Creates the meters of a directory. */
  public static SnapshotClientMetrics of(FollowedDirectory directory) {
    return of(directory, Tags.empty());
  }

  /** Creates the meters of a directory with additional tags. */
  public static SnapshotClientMetrics of(FollowedDirectory directory, Iterable<Tag> tags) {
    return new SnapshotClientMetrics(directory.shown(), tags);
  }

  @Override
  public void bindTo(MeterRegistry registry) {
    for (ClientState state : ClientState.values()) {
      Gauge.builder(PREFIX + "state", followed, of -> of.metrics().state() == state ? 1 : 0)
          .description("1 for the current state, 0 for all other states")
          .tags(tags)
          .tag(STATE, state.name().toLowerCase(Locale.ROOT))
          .register(registry);
    }
    TimeGauge.builder(
            PREFIX + "age",
            followed,
            TimeUnit.MILLISECONDS,
            of -> ifAny(of, SnapshotMetrics::ageMillis))
        .description("Time since the active snapshot was published")
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
        .description("Time from the first record of the snapshot until it became active")
        .tags(tags)
        .register(registry);
    counter(registry, "loaded", null, "Snapshots that became active", SnapshotMetrics::snapshots);
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
        "Outages in which the topic or directory could not be read",
        SnapshotMetrics::outages);
    counter(
        registry,
        "read",
        "bytes",
        "Bytes of the values of records read",
        SnapshotMetrics::readBytes);
    counter(
        registry,
        "fetched",
        "bytes",
        "Bytes of the blobs loaded for snapshots",
        SnapshotMetrics::fetchedBytes);
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

  /** Returns a value of the active snapshot; NaN if there is no active snapshot. */
  private static double ifAny(FollowedState followed, ToLongFunction<SnapshotMetrics> value) {
    SnapshotMetrics metrics = followed.metrics();
    return metrics.sequence() < 0 ? Double.NaN : value.applyAsLong(metrics);
  }
}
