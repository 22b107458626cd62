package io.firstseen.consumer;

import io.firstseen.consumer.CurrentSnapshot.View;
import io.firstseen.consumer.internal.ActiveSnapshot;
import io.firstseen.consumer.internal.FirstSnapshot;
import io.firstseen.consumer.internal.FollowerTime;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.UrlExpressions;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.NearTexts;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.UrlList;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Follows one set of keys on a snapshots topic and checks whether keys are in it. A snapshot is
 * fully verified before it becomes active, and <b>the last valid snapshot is never dropped</b>: the
 * client reports and skips snapshots that are damaged, incomplete, older, or built with a different
 * hash key, until a valid snapshot arrives.
 *
 * <p>A live key is always reported as present. Any other key is reported as present with a
 * probability of at most the set's false-positive rate. "Live" means at the end of the window of
 * {@link #manifest()}.
 *
 * <p>Queries do not acquire locks, may be called by any number of threads, and never wait for the
 * thread that follows the topic. This thread is a daemon; {@link #close} ends it.
 */
public final class SnapshotClient implements FollowedSet {
  private static final AtomicInteger CLIENTS = new AtomicInteger();
  private static final int MAX_FETCH_BYTES = 16 << 20;

  private final SnapshotClientOptions options;
  private final CurrentSnapshot current;
  private final AssemblingReader reader;
  private final FollowedState shown;
  // Null before the start and after {@link #close}.
  private final AtomicReference<SharedFollower> follower = new AtomicReference<>();

  /** Creates a client that does not follow yet. Tests feed its reader and supply the clock. */
  SnapshotClient(SnapshotClientOptions options, LongSupplier wallClockMillis) {
    this(options, wallClockMillis, FollowerTime.SYSTEM, Runnable::run);
  }

  SnapshotClient(
      SnapshotClientOptions options,
      LongSupplier wallClockMillis,
      FollowerTime time,
      Executor fetches) {
    this.options = options;
    this.current = new CurrentSnapshot(options.pinnedSequence());
    this.reader = new AssemblingReader(options, wallClockMillis, time, current, fetches);
    this.shown = reader.shown();
  }

  FollowedState shown() {
    return shown;
  }

  AssemblingReader reader() {
    return reader;
  }

  /**
   * Creates a client and starts to follow. Returns immediately, before any broker is contacted;
   * {@link #awaitReady} waits for the first snapshot.
   */
  public static SnapshotClient start(SnapshotClientOptions options) {
    return startAll(List.of(options)).get(0);
  }

  /**
   * Creates clients of several sets of one topic, which share a consumer and a thread: the topic is
   * read once for all clients. The thread ends when all clients are closed.
   *
   * @return the clients, in the order of the options
   * @throws IllegalArgumentException if there are no options, or if they name different brokers,
   *     topics or Kafka properties, or the same set twice
   */
  public static List<SnapshotClient> startAll(List<SnapshotClientOptions> options) {
    return startAll(options, FollowerTime.SYSTEM);
  }

  static List<SnapshotClient> startAll(List<SnapshotClientOptions> options, FollowerTime time) {
    requireOneTopic(options);
    List<SnapshotClient> clients = new ArrayList<>();
    for (SnapshotClientOptions each : options) {
      // Loaded in a separate thread, because a slow server would delay the other sets of the
      // consumer.
      Executor fetches =
          Executors.newSingleThreadExecutor(
              fetch -> new FollowerThread("fetch-" + each.setName(), fetch));
      clients.add(
          new SnapshotClient(each, System::currentTimeMillis, FollowerTime.SYSTEM, fetches));
    }
    SnapshotClientOptions first = options.get(0);
    SharedFollower follower =
        new SharedFollower(
            options.size() == 1 ? first.setName() : options.size() + "-sets",
            first.topic(),
            consumerProperties(first),
            clients.stream().map(SnapshotClient::reader).toList(),
            time);
    clients.forEach(client -> client.follower.set(follower));
    follower.start();
    return List.copyOf(clients);
  }

  private static void requireOneTopic(List<SnapshotClientOptions> options) {
    if (options.isEmpty()) {
      throw new IllegalArgumentException("options must be of at least one set");
    }
    SnapshotClientOptions first = options.get(0);
    Set<String> names = new HashSet<>();
    for (SnapshotClientOptions each : options) {
      if (!each.bootstrapServers().equals(first.bootstrapServers())
          || !each.topic().equals(first.topic())
          || !each.kafkaProperties().equals(first.kafkaProperties())) {
        throw new IllegalArgumentException(
            "clients that start together must read one topic with the same Kafka properties, but"
                + " sets '%s' and '%s' do not".formatted(first.setName(), each.setName()));
      }
      if (!names.add(each.setName())) {
        throw new IllegalArgumentException(
            "clients that start together must follow different sets, got '%s' twice"
                .formatted(each.setName()));
      }
    }
  }

  static Map<String, Object> consumerProperties(SnapshotClientOptions options) {
    Map<String, Object> properties = new HashMap<>();
    properties.put("client.id", "firstseen-" + options.setName() + "-" + CLIENTS.incrementAndGet());
    // Kafka's default of 1 MiB would fetch only one chunk per round trip.
    properties.put("max.partition.fetch.bytes", MAX_FETCH_BYTES);
    properties.putAll(options.kafkaProperties());
    properties.put("bootstrap.servers", options.bootstrapServers());
    return properties;
  }

  /** Like {@link #mightContain(byte[], byte[])} without a scope. */
  public boolean mightContain(byte[] key) throws InvalidKeyException {
    return mightContain(null, key);
  }

  /** Like {@link #mightContain(byte[], byte[])} without a scope, for a key in UTF-8. */
  public boolean mightContain(String key) throws InvalidKeyException {
    return mightContain(null, utf8(key, "key"));
  }

  /** Like {@link #mightContain(byte[], byte[])}, for a scope and a key in UTF-8. */
  public boolean mightContain(@Nullable String scope, String key) throws InvalidKeyException {
    return mightContain(scope == null ? null : utf8(scope, "scope"), utf8(key, "key"));
  }

  private static byte[] utf8(String text, String what) throws InvalidKeyException {
    int codePoint;
    for (int i = 0; i < text.length(); i += Character.charCount(codePoint)) {
      codePoint = text.codePointAt(i);
      if (Character.getType(codePoint) == Character.SURROGATE) {
        throw new InvalidKeyException(what + " has half of a surrogate pair");
      }
    }
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Returns whether a key is in the set according to the current snapshot. The key is canonicalised
   * by the snapshot's rule.
   *
   * @param scope the scope; null or empty means none
   * @param key the key before canonicalisation
   * @throws InvalidKeyException if the key has no canonical form, so it cannot be looked up; no set
   *     contains such a key
   * @throws NoSnapshotException if no snapshot is available, unless the {@link NoSnapshotPolicy}
   *     defines a result
   * @throws IllegalStateException if the client was closed, or has no hash key
   */
  public boolean mightContain(byte @Nullable [] scope, byte[] key) throws InvalidKeyException {
    requireHashKey();
    View now = current.view();
    if (!answers(now)) {
      return answerWithout(now);
    }
    try {
      return now.active().set().mightContainKey(scope, key, options.keyHash());
    } catch (SnapshotException e) {
      throw new IllegalStateException("a manifest of another hash key became active", e);
    }
  }

  /**
   * Like {@link #mightContain(byte[], byte[])} for many keys, all looked up in one snapshot. Much
   * faster than one call per key if the set is larger than the processor's cache.
   *
   * @param scope the scope of all; null or empty means none
   * @param keys the keys before canonicalisation
   * @return the results, in the order of the keys
   * @throws InvalidKeyException if a key has no canonical form
   */
  public boolean[] mightContainEach(byte @Nullable [] scope, List<byte[]> keys)
      throws InvalidKeyException {
    requireHashKey();
    boolean[] found = new boolean[keys.size()];
    View now = current.view();
    if (!answers(now)) {
      Arrays.fill(found, answerWithout(now));
      return found;
    }
    SnapshotSet set = now.active().set();
    long[] hashes = new long[found.length];
    try {
      for (int i = 0; i < hashes.length; i++) {
        hashes[i] = set.manifest().parameters().hash(scope, keys.get(i), options.keyHash());
      }
    } catch (SnapshotException e) {
      throw new IllegalStateException("a manifest of another hash key became active", e);
    }
    set.mightContainEach(hashes, 0, hashes.length, found);
    return found;
  }

  /**
   * Returns a URL list that keeps using the current snapshot. Use {@link
   * io.firstseen.filters.snapshot.UrlLists} to query the lists of several clients together.
   *
   * @throws NoSnapshotException if no snapshot is available, regardless of the {@link
   *     NoSnapshotPolicy}
   * @throws IllegalArgumentException if the set's canonicaliser is not {@code url-expression}
   * @throws IllegalStateException if the client was closed, or has no hash key
   */
  public UrlList urlList() {
    requireHashKey();
    View now = current.view();
    if (!answers(now)) {
      FollowedState.requireOpen(now);
      throw new NoSnapshotException(shown.stateOf(now), whyNoAnswer(now));
    }
    return urlList(now);
  }

  private UrlList urlList(View now) {
    try {
      return UrlList.of(now.active().set(), options.keyHash());
    } catch (SnapshotException e) {
      throw new IllegalStateException("a manifest of another hash key became active", e);
    }
  }

  /** Like {@link #match(byte[], byte[])} without a scope, for a URL in UTF-8. */
  public Optional<String> match(String url) throws InvalidKeyException {
    return match(null, utf8(url, "URL"));
  }

  /**
   * Returns the most specific entry of the current snapshot, in canonical form, that lists a URL;
   * empty if the URL is not listed. If the {@link NoSnapshotPolicy} returns 'present', the entry is
   * the canonical form of the URL.
   *
   * @param scope the scope; null or empty means none
   * @param url the URL as entered by a user
   * @throws InvalidKeyException if the URL has no canonical form, so it cannot be looked up
   * @throws NoSnapshotException if no snapshot is available, unless the {@link NoSnapshotPolicy}
   *     defines a result
   * @throws IllegalArgumentException if the set's canonicaliser is not {@code url-expression}
   * @throws IllegalStateException if the client was closed, or has no hash key
   */
  public Optional<String> match(byte @Nullable [] scope, byte[] url) throws InvalidKeyException {
    requireHashKey();
    UrlExpressions expressions = UrlExpressions.of(url);
    View now = current.view();
    if (!answers(now)) {
      return answerWithout(now) ? Optional.of(expressions.toString()) : Optional.empty();
    }
    return urlList(now).match(scope, expressions);
  }

  /** Like {@link #resembles(byte[], byte[])} without a scope, for a text in UTF-8. */
  public int resembles(String text) throws InvalidKeyException {
    return resembles(null, utf8(text, "text"));
  }

  /**
   * Returns how many bands a text has in common with the live text of the current snapshot that
   * resembles it most; 0 if no live text resembles it. See {@link NearTexts#resembles}. If the
   * {@link NoSnapshotPolicy} returns 'present', the number is 1.
   *
   * @param scope the scope; null or empty means none
   * @param text the text before canonicalisation
   * @throws InvalidKeyException if the text has no canonical form, so it cannot be looked up
   * @throws NoSnapshotException if no snapshot is available, unless the {@link NoSnapshotPolicy}
   *     defines a result
   * @throws IllegalArgumentException if the set was published without a rule for near-duplicates
   * @throws IllegalStateException if the client was closed, or has no hash key
   */
  public int resembles(byte @Nullable [] scope, byte[] text) throws InvalidKeyException {
    requireHashKey();
    View now = current.view();
    if (!answers(now)) {
      return answerWithout(now) ? 1 : 0;
    }
    try {
      return NearTexts.of(now.active().set(), options.keyHash()).resembles(scope, text);
    } catch (SnapshotException e) {
      throw new IllegalStateException("a manifest of another hash key became active", e);
    }
  }

  private void requireHashKey() {
    if (options.isFollowingOnly()) {
      throw new IllegalStateException("the snapshot client only follows, it has no hash key");
    }
  }

  private boolean answers(View now) {
    return now.active() != null
        && (options.answerWhileStale() || shown.stateOf(now) != ClientState.STALE);
  }

  private boolean answerWithout(View now) {
    FollowedState.requireOpen(now);
    return switch (options.noSnapshotPolicy()) {
      case THROW -> throw new NoSnapshotException(shown.stateOf(now), whyNoAnswer(now));
      case ANSWER_PRESENT -> true;
      case ANSWER_ABSENT -> false;
    };
  }

  private String whyNoAnswer(View now) {
    return "no snapshot of set '%s' is available: the client is %s%s"
        .formatted(
            options.setName(),
            shown.stateOf(now),
            now.trouble() != null
                ? "; " + now.trouble()
                : shown.stateOf(now) == ClientState.EMPTY
                    ? "; " + FirstSnapshot.expected(Optional.empty())
                    : "");
  }

  /** Returns the state of the client. */
  public ClientState state() {
    return shown.stateOf(current.view());
  }

  @Override
  public ClientStatus status() {
    return shown.status();
  }

  @Override
  public Optional<String> unusable() {
    return shown.unusable();
  }

  /** Returns the manifest of the current snapshot; empty if there is no snapshot yet. */
  public Optional<Manifest> manifest() {
    return Optional.ofNullable(current.view().active()).map(ActiveSnapshot::manifest);
  }

  /**
   * Pins the client to the snapshot of one sequence. The current snapshot stays active until the
   * pinned snapshot is loaded. Loading is immediate if the snapshot is in the {@link
   * SnapshotClientOptions.Builder#history}. Otherwise the topic is read again; it may no longer
   * contain the snapshot, or not yet. After this method returns, no other sequence becomes active
   * before {@link #unpin}.
   *
   * @param sequence the sequence, at least 0
   * @throws IllegalArgumentException if it is negative
   */
  public void pin(long sequence) {
    current.pin(OptionalLong.of(SnapshotClientOptions.requireSequence(sequence)));
  }

  /** Moves to the newest snapshot and follows again. Does nothing if no sequence is pinned. */
  public void unpin() {
    current.pin(OptionalLong.empty());
  }

  /**
   * Returns the pinned sequence, whether or not it is active yet; empty if no sequence is pinned.
   */
  public OptionalLong pinned() {
    return current.pinned();
  }

  /** Returns the current metrics. Cheap; may be called by any thread, also after {@link #close}. */
  public SnapshotMetrics metrics() {
    return shown.metrics();
  }

  /**
   * Waits until a snapshot is active.
   *
   * @return the manifest of the active snapshot
   * @throws TimeoutException if no snapshot becomes active in time; the message states the reason
   * @throws UnusableSetException as soon as it is known that waiting does not help, because this
   *     client cannot use the set with its configuration, such as its hash key
   * @throws IllegalStateException if the client is closed, or is closed meanwhile
   */
  public Manifest awaitReady(Duration timeout) throws InterruptedException, TimeoutException {
    return await(this::answers, timeout);
  }

  /**
   * Waits until the snapshot of a sequence or a later snapshot is active.
   *
   * @return the manifest of the active snapshot
   * @throws TimeoutException if no such snapshot becomes active in time; the message states the
   *     reason
   * @throws UnusableSetException as {@link #awaitReady}
   * @throws IllegalStateException if the client is closed, or is closed meanwhile
   */
  public Manifest awaitSequence(long sequence, Duration timeout)
      throws InterruptedException, TimeoutException {
    return await(now -> answers(now) && now.active().manifest().sequence() >= sequence, timeout);
  }

  private Manifest await(Predicate<View> condition, Duration timeout)
      throws InterruptedException, TimeoutException {
    return shown.await(
        condition,
        timeout,
        now ->
            answers(now)
                ? "set '%s' is at sequence %d"
                    .formatted(options.setName(), now.active().manifest().sequence())
                : whyNoAnswer(now));
  }

  /**
   * Stops following. Running queries complete; later queries throw. Waits for the following thread,
   * at most a few seconds if it is busy verifying.
   */
  @Override
  public void close() {
    SharedFollower left = follower.getAndSet(null);
    if (left != null) {
      left.leave();
    }
    shown.close();
  }
}
