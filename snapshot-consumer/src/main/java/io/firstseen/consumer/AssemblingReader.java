package io.firstseen.consumer;

import io.firstseen.consumer.CurrentSnapshot.View;
import io.firstseen.consumer.internal.ActiveSnapshot;
import io.firstseen.consumer.internal.Decision;
import io.firstseen.consumer.internal.SnapshotAssembler;
import io.firstseen.consumer.internal.TopicFollower;
import io.firstseen.filters.snapshot.Manifest;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What the following thread does: hands records to the assembler, shows and tells the outcome. */
final class AssemblingReader implements TopicFollower.Reader {
  private static final Logger LOG = LoggerFactory.getLogger(AssemblingReader.class);

  private final SnapshotClientOptions options;
  private final LongSupplier wallClockMillis;
  private final CurrentSnapshot current;
  private final SnapshotAssembler assembler;

  private ClientState state = ClientState.EMPTY;
  private ActiveSnapshot active;
  private String trouble;

  AssemblingReader(
      SnapshotClientOptions options, LongSupplier wallClockMillis, CurrentSnapshot current) {
    this.options = options;
    this.wallClockMillis = wallClockMillis;
    this.current = current;
    this.assembler =
        new SnapshotAssembler(options.setName(), options.keyHash(), options.chunkWait().toMillis());
  }

  @Override
  public void rewind() {
    assembler.rewind();
  }

  @Override
  public void accept(String key, byte[] value, long timestampMillis) {
    assembler.accept(key, value, timestampMillis);
  }

  @Override
  public boolean settle() {
    boolean reread = false;
    for (Decision decision : assembler.settle(TimeUnit.NANOSECONDS.toMillis(System.nanoTime()))) {
      if (decision instanceof Decision.Activate activate) {
        activate(activate.snapshot());
      } else if (decision instanceof Decision.Refuse refuse) {
        complain(refuse.reason());
        tell(listener -> listener.onRefused(refuse.reason()));
      } else {
        reread = true;
      }
    }
    return reread;
  }

  private void activate(ActiveSnapshot snapshot) {
    active = snapshot;
    trouble = null;
    Manifest manifest = snapshot.manifest();
    LOG.info(
        "set '{}': sequence {} answers, {} keys until {}",
        options.setName(),
        manifest.sequence(),
        manifest.count(),
        Instant.ofEpochMilli(manifest.windowEndMillis()));
    update();
    tell(listener -> listener.onSnapshot(manifest));
  }

  @Override
  public void tick() {
    if (stateNow() != state) {
      update();
    }
  }

  @Override
  public void unreachable(String reason) {
    complain(reason);
    tell(listener -> listener.onUnreachable(reason));
  }

  @Override
  public void reachable() {
    trouble = null;
    update();
    LOG.info("topic '{}' can be read again", options.topic());
    tell(SnapshotListener::onReachable);
  }

  private void complain(String reason) {
    trouble = reason;
    update();
    LOG.warn(reason);
  }

  /** Shows how things are, and tells of a new state. */
  private void update() {
    ClientState before = state;
    state = stateNow();
    current.show(new View(state, active, trouble));
    if (state != before) {
      tell(listener -> listener.onState(state));
    }
  }

  private ClientState stateNow() {
    if (active == null) {
      return state == ClientState.LOADING || assembler.isLoading()
          ? ClientState.LOADING
          : ClientState.EMPTY;
    }
    long ageMillis = wallClockMillis.getAsLong() - active.publishedMillis();
    return options.staleAfter().map(bound -> ageMillis >= bound.toMillis()).orElse(false)
        ? ClientState.STALE
        : ClientState.READY;
  }

  private void tell(Consumer<SnapshotListener> event) {
    try {
      event.accept(options.listener());
    } catch (RuntimeException e) {
      LOG.warn("set '{}': the listener failed", options.setName(), e);
    }
  }
}
