package io.firstseen.consumer;

import io.firstseen.consumer.CurrentSnapshot.View;
import io.firstseen.consumer.internal.ActiveSnapshot;
import io.firstseen.consumer.internal.Decision;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state of a followed set. The following thread reports what happens; each change is published
 * to queries, counted, logged and passed to the listener. Any thread may call {@link #stateOf},
 * {@link #status}, {@link #metrics} and {@link #close}; only the following thread may call the
 * rest.
 */
final class FollowedState {
  private static final Logger LOG = LoggerFactory.getLogger(FollowedState.class);

  private final String setName;
  private final String source;
  private final Optional<Duration> staleAfter;
  private final SnapshotListener listener;
  private final LongSupplier wallClockMillis;
  private final BooleanSupplier isLoading;
  private final CurrentSnapshot current;
  // Written by the following thread.
  final AtomicLong snapshots = new AtomicLong();
  final AtomicLong readRecords = new AtomicLong();
  final AtomicLong readBytes = new AtomicLong();
  private final AtomicLong refusals = new AtomicLong();
  private final AtomicLong outages = new AtomicLong();
  private final AtomicLong fetchedBytes = new AtomicLong();
  private final AtomicLong lastLoadMillis = new AtomicLong();

  private ClientState state = ClientState.EMPTY;
  private @Nullable ActiveSnapshot active;
  // The view that queries already use, while its decision is still to be executed.
  private @Nullable ActiveSnapshot shownNext;
  // The current problem with a manifest, and why the source cannot be read now.
  private @Nullable String refusal;
  private @Nullable String outage;
  private @Nullable String unusable;

  /**
   * Creates the state before any record was read.
   *
   * @param source the topic or directory, as the log names it
   * @param isLoading whether a snapshot is being loaded; called by the following thread
   */
  FollowedState(
      String setName,
      String source,
      Optional<Duration> staleAfter,
      SnapshotListener listener,
      LongSupplier wallClockMillis,
      BooleanSupplier isLoading,
      CurrentSnapshot current) {
    this.setName = setName;
    this.source = source;
    this.staleAfter = staleAfter;
    this.listener = listener;
    this.wallClockMillis = wallClockMillis;
    this.isLoading = isLoading;
    this.current = current;
  }

  String setName() {
    return setName;
  }

  /**
   * Returns the state of a view. Also checks the age here, because the following thread may be too
   * busy to set STALE in time.
   */
  ClientState stateOf(View view) {
    return view.state() == ClientState.READY ? stateOf(view.active()) : view.state();
  }

  private ClientState stateOf(ActiveSnapshot answering) {
    Long expiresMillis = answering.manifest().expiresMillis();
    Duration age = Duration.ofMillis(ageMillis(answering));
    boolean isOld = staleAfter.isPresent() && age.compareTo(staleAfter.get()) >= 0;
    boolean hasExpired = expiresMillis != null && wallClockMillis.getAsLong() >= expiresMillis;
    return isOld || hasExpired ? ClientState.STALE : ClientState.READY;
  }

  private long ageMillis(ActiveSnapshot answering) {
    return wallClockMillis.getAsLong() - answering.publishedMillis();
  }

  ClientStatus status() {
    View now = current.view();
    Optional<ActiveSnapshot> answering = Optional.ofNullable(now.active());
    return new ClientStatus(
        stateOf(now),
        answering.map(ActiveSnapshot::set),
        answering.map(ActiveSnapshot::publishedMillis).orElse(0L),
        Optional.ofNullable(now.trouble()));
  }

  SnapshotMetrics metrics() {
    View now = current.view();
    ActiveSnapshot answering = now.active();
    return new SnapshotMetrics(
        stateOf(now),
        answering == null ? -1 : answering.manifest().sequence(),
        answering == null ? 0 : answering.manifest().count(),
        answering == null ? 0 : answering.setBytes(),
        answering == null ? -1 : ageMillis(answering),
        snapshots.get(),
        refusals.get(),
        outages.get(),
        readRecords.get(),
        readBytes.get(),
        fetchedBytes.get(),
        lastLoadMillis.get());
  }

  Optional<String> unusable() {
    return Optional.ofNullable(current.view().unusable());
  }

  /**
   * Waits until a condition holds.
   *
   * @param why why the condition does not hold yet
   * @return the manifest of the active snapshot
   * @throws TimeoutException if the condition does not hold in time; the message states the reason
   * @throws UnusableSetException as soon as it is known that waiting does not help
   * @throws IllegalStateException if this object is closed, or is closed meanwhile
   */
  Manifest await(Predicate<View> condition, Duration timeout, Function<View, String> why)
      throws InterruptedException, TimeoutException {
    View now =
        current.await(
            view ->
                condition.test(view)
                    || view.state() == ClientState.CLOSED
                    || view.unusable() != null,
            TimeUnit.NANOSECONDS.convert(timeout));
    requireOpen(now);
    if (now.unusable() != null) {
      throw new UnusableSetException(now.unusable());
    }
    if (!condition.test(now)) {
      throw new TimeoutException(
          "waited for %d ms; %s".formatted(timeout.toMillis(), why.apply(now)));
    }
    return now.active().manifest();
  }

  static void requireOpen(View now) {
    if (now.state() == ClientState.CLOSED) {
      throw new IllegalStateException("the snapshot client is closed");
    }
  }

  /** Publishes CLOSED, which is the final state. */
  void close() {
    current.show(new View(ClientState.CLOSED, null, null, null));
  }

  /** Returns the active snapshot; null if there is none. */
  @Nullable ActiveSnapshot active() {
    return active;
  }

  /**
   * Publishes a snapshot to queries, unless another sequence is pinned. Returns whether it was
   * published; the caller then calls {@link #answer}.
   */
  boolean showNext(ActiveSnapshot next) {
    boolean isShown = current.showNext(new View(stateOf(next), next, null, null));
    if (isShown) {
      shownNext = next;
    }
    return isShown;
  }

  /**
   * Makes a snapshot active.
   *
   * @param sinceNanos when its loading began, by {@link System#nanoTime}
   */
  void answer(Decision.Activate answer, long sinceNanos) {
    ActiveSnapshot snapshot = answer.snapshot();
    Manifest manifest = snapshot.manifest();
    Optional<Manifest> previous = Optional.ofNullable(active).map(ActiveSnapshot::manifest);
    active = snapshot;
    shownNext = null;
    if (previous.filter(manifest::hasContentOf).isEmpty()) {
      refusal = null;
    }
    long tookMillis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - sinceNanos);
    snapshots.incrementAndGet();
    fetchedBytes.addAndGet(answer.bytes());
    lastLoadMillis.set(tookMillis);
    LOG.info(
        "set '{}': sequence {} is active, {} keys at {}, reached by {} of {} bytes",
        setName,
        manifest.sequence(),
        manifest.count(),
        Instant.ofEpochMilli(manifest.windowEndMillis()),
        answer.way().name().toLowerCase(Locale.ROOT),
        answer.bytes());
    update();
    Optional<CatchUp.Changes> changes = Optional.ofNullable(answer.changes());
    SnapshotUpdate update =
        new SnapshotUpdate(
            manifest,
            previous,
            changes.map(each -> OptionalLong.of(each.added())).orElse(OptionalLong.empty()),
            changes.map(each -> OptionalLong.of(each.removed())).orElse(OptionalLong.empty()),
            answer.way(),
            answer.bytes(),
            tookMillis);
    tell(each -> each.onUpdate(update));
  }

  /** Drops the active snapshot, which restores the initial state. */
  void forget() {
    active = null;
    shownNext = null;
    update();
  }

  void notice(String sentence) {
    LOG.warn(sentence);
    tell(each -> each.onNotice(sentence));
  }

  void refuse(String reason) {
    refusals.incrementAndGet();
    setRefusal(reason);
    LOG.warn(reason);
    tell(each -> each.onRefused(reason));
  }

  void unreachable(String reason) {
    outages.incrementAndGet();
    setOutage(reason);
    LOG.warn(reason);
    tell(each -> each.onUnreachable(reason));
  }

  void reachable() {
    setOutage(null);
    LOG.info("{} can be read again", source);
    tell(SnapshotListener::onReachable);
  }

  /** Publishes the problem of the newest manifest; null if there is no problem. */
  void setRefusal(@Nullable String reason) {
    if (!Objects.equals(refusal, reason)) {
      refusal = reason;
      update();
    }
  }

  /** Publishes and reports a possible problem, unless a definite problem is known. */
  void suspect(String reason) {
    if (refusal == null) {
      setRefusal(reason);
      notice(reason);
    }
  }

  void endRefusal(String reason) {
    if (reason.equals(refusal)) {
      setRefusal(null);
    }
  }

  /**
   * Publishes why no snapshot can be used with this configuration; null if a snapshot may become
   * active.
   */
  void setUnusable(@Nullable String reason) {
    if (!Objects.equals(unusable, reason)) {
      unusable = reason;
      update();
    }
  }

  /**
   * Publishes why the source cannot be read; null if it can be read. A problem with a manifest
   * remains until it is resolved.
   */
  void setOutage(@Nullable String reason) {
    outage = reason;
    update();
  }

  /**
   * Publishes the state if it has changed, for example because of age. Must be called every few
   * seconds.
   */
  void tick() {
    if (stateNow() != state) {
      update();
    }
  }

  /** Publishes the current view, and reports a new state to the listener. */
  private void update() {
    ClientState before = state;
    state = stateNow();
    current.show(
        new View(
            state,
            showing(),
            outage == null ? refusal : outage,
            showing() == null ? unusable : null));
    if (state != before) {
      tell(each -> each.onState(state));
    }
  }

  /** Returns the view that queries use: reports before {@link #answer} must not revert it. */
  private @Nullable ActiveSnapshot showing() {
    return shownNext == null ? active : shownNext;
  }

  private ClientState stateNow() {
    ActiveSnapshot showing = showing();
    if (showing == null) {
      return state == ClientState.LOADING || isLoading.getAsBoolean()
          ? ClientState.LOADING
          : ClientState.EMPTY;
    }
    return stateOf(showing);
  }

  /** Calls the listener; its exceptions are logged and otherwise ignored. */
  void tell(Consumer<SnapshotListener> event) {
    try {
      event.accept(listener);
    } catch (RuntimeException | Error e) {
      LOG.warn("set '{}': the listener failed", setName, e);
    }
  }
}
