package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.MissingBlobsException;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Loads the sets of candidates from the chunks of the topic or from the location of their blobs.
 */
final class CandidateLoader {
  private static final Logger LOG = LoggerFactory.getLogger(CandidateLoader.class);
  private static final long FETCH_RETRY_MILLIS = 5_000;
  private static final long MIN_PAUSE_MILLIS = 1_000;
  private static final long MAX_PAUSE_MILLIS = 30_000;

  private final AssemblerSettings settings;
  private final ChunkStore chunks;
  // Blobs that were fetched from other locations, by digest, so that a retry fetches only the
  // others.
  private final Map<String, ByteBuffer> fetched = new ConcurrentHashMap<>();
  private @Nullable Fetch running;

  CandidateLoader(AssemblerSettings settings, ChunkStore chunks) {
    this.settings = settings;
    this.chunks = chunks;
  }

  boolean isElsewhere(Candidate candidate) {
    return settings.blobs().isNeededFor(candidate.manifest);
  }

  /**
   * Loads the set of a candidate. Does nothing if required blobs are still missing, or if it is too
   * early to fetch them again. If they are not on the topic, starts to load the set, and a later
   * call returns the result.
   *
   * @param complaints receives problems that later records or attempts may resolve
   * @return empty if blobs are being fetched, or are missing, see {@link Candidate#lacking}
   * @throws SnapshotException if a blob contradicts the manifest, which no later record can resolve
   */
  Optional<CatchUp> load(
      Candidate candidate,
      Collection<SnapshotSet> held,
      long nowMillis,
      Consumer<String> complaints)
      throws SnapshotException {
    boolean isElsewhere = isElsewhere(candidate);
    if (!candidate.load.isDue(nowMillis)) {
      return Optional.empty();
    }
    if (isElsewhere
        ? !candidate.fetch.isDue(nowMillis)
        : !candidate.lacking.isEmpty() && candidate.lacking.stream().noneMatch(chunks::isWhole)) {
      return Optional.empty();
    }
    long beganNanos = System.nanoTime();
    try {
      if (isElsewhere) {
        Optional<Fetch> ended = fetch(candidate, held);
        return ended.isEmpty() ? Optional.empty() : Optional.of(ended.get().result(complaints));
      }
      return Optional.of(
          CatchUp.to(candidate.manifest, held, blob -> assemble(candidate, blob, complaints)));
    } catch (MissingBlobsException e) {
      candidate.lacking = e.blobs();
    } catch (SnapshotException e) {
      throw e;
    } catch (IOException e) {
      // The loader has already reported it.
    } catch (RuntimeException | Error e) {
      // Thrown by a user's loader, or because a set is too large. Other sets must not wait for this
      // set.
      fetched.clear();
      LOG.warn("sequence {} of set '{}'", candidate.sequence(), settings.setName(), e);
      complaints.accept(
          "sequence %d of set '%s' cannot be loaded: %s"
              .formatted(candidate.sequence(), settings.setName(), e));
      candidate.load =
          candidate.load.next(after(nowMillis, beganNanos), MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS);
    }
    candidate.fetch =
        Retry.NONE.next(after(nowMillis, beganNanos), FETCH_RETRY_MILLIS, FETCH_RETRY_MILLIS);
    return Optional.empty();
  }

  /** Returns the time after a load, because a load may take longer than the pause after it. */
  private static long after(long nowMillis, long beganNanos) {
    return nowMillis + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNanos);
  }

  /** Returns this candidate's completed load; starts a load if none is running. */
  private Optional<Fetch> fetch(Candidate candidate, Collection<SnapshotSet> held) {
    if (running == null) {
      running = new Fetch(candidate.manifest, List.copyOf(held));
      settings.fetches().execute(running);
    }
    Fetch now = running;
    if (!now.isDone() || !now.manifest.hasContentOf(candidate.manifest)) {
      return Optional.empty();
    }
    running = null;
    return Optional.of(now);
  }

  /** Cancels a load that is not for one of these candidates. */
  void endOtherThan(Collection<Candidate> candidates) {
    if (running != null
        && candidates.stream()
            .noneMatch(candidate -> candidate.manifest.hasContentOf(running.manifest))) {
      running.cancel(true);
      running = null;
    }
  }

  void forget() {
    fetched.clear();
  }

  private ByteBuffer assemble(Candidate candidate, BlobReference blob, Consumer<String> complaints)
      throws MissingBlobsException {
    candidate.asked.add(blob.digest());
    if (chunks.isWhole(blob)) {
      try {
        return chunks.assemble(blob);
      } catch (SnapshotException e) {
        complaints.accept(complaint(candidate.manifest, blob, "is damaged", e));
      }
    }
    throw new MissingBlobsException(List.of(blob));
  }

  private String complaint(Manifest manifest, BlobReference blob, String what, IOException e) {
    return "blob %s of sequence %d of set '%s' %s: %s"
        .formatted(blob.digest(), manifest.sequence(), settings.setName(), what, e.getMessage());
  }

  /** A load of a set whose blobs are not on the topic, in a separate thread. */
  private final class Fetch extends FutureTask<CatchUp> {
    private final Manifest manifest;
    private final Queue<String> complaints;

    Fetch(Manifest manifest, List<SnapshotSet> held) {
      this(manifest, held, new ConcurrentLinkedQueue<>());
    }

    private Fetch(Manifest manifest, List<SnapshotSet> held, Queue<String> complaints) {
      super(() -> CatchUp.to(manifest, held, new Fetching(manifest, complaints::add)));
      this.manifest = manifest;
      this.complaints = complaints;
    }

    /** Returns the set after the load has ended. Reports problems. */
    CatchUp result(Consumer<String> listener) throws IOException {
      complaints.forEach(listener);
      try {
        return get();
      } catch (ExecutionException e) {
        if (e.getCause() instanceof IOException cause) {
          throw cause;
        }
        if (e.getCause() instanceof Error cause) {
          throw cause;
        }
        throw (RuntimeException) e.getCause();
      } catch (InterruptedException e) {
        throw new IllegalStateException("the load has not ended", e);
      }
    }
  }

  /** Fetches blobs from the location that the manifest names or the user has configured. */
  private final class Fetching implements BlobLoader {
    private final Manifest manifest;
    private final Consumer<String> complaints;

    Fetching(Manifest manifest, Consumer<String> complaints) {
      this.manifest = manifest;
      this.complaints = complaints;
    }

    @Override
    public ByteBuffer load(BlobReference blob) throws IOException {
      ByteBuffer known = fetched.get(blob.digest());
      if (known != null) {
        return known.duplicate();
      }
      settings.blobs().requireReadable(blob);
      try {
        ByteBuffer bytes = settings.blobs().fetch(manifest, blob);
        fetched.put(blob.digest(), bytes.duplicate());
        return bytes;
      } catch (IOException e) {
        complaints.accept(complaint(manifest, blob, "cannot be fetched", e));
        // A SnapshotException would mean that the manifest can never be used.
        throw e instanceof MissingBlobsException ? e : new IOException(e.getMessage(), e);
      }
    }

    @Override
    public long requestBytes() {
      return BlobSource.REQUEST_BYTES;
    }
  }
}
