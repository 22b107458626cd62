package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.CatchUp;
import io.firstseen.filters.snapshot.MissingBlobsException;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotSet;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Loads the sets of candidates, from the chunks of the topic or from where their blobs are. */
final class CandidateLoader {
  private static final Logger LOG = LoggerFactory.getLogger(CandidateLoader.class);
  private static final long FETCH_RETRY_MILLIS = 5_000;
  private static final long MIN_PAUSE_MILLIS = 1_000;
  private static final long MAX_PAUSE_MILLIS = 30_000;

  private final AssemblerSettings settings;
  private final ChunkStore chunks;
  // Blobs from elsewhere, by digest, so that a retry fetches only the others.
  private final Map<String, ByteBuffer> fetched = new HashMap<>();

  CandidateLoader(AssemblerSettings settings, ChunkStore chunks) {
    this.settings = settings;
    this.chunks = chunks;
  }

  boolean isElsewhere(Candidate candidate) {
    return settings.blobs().isNeededFor(candidate.manifest);
  }

  /**
   * Loads the set of a candidate. Does nothing if the blobs that it lacked are still missing, or if
   * it is too early to fetch them again.
   *
   * @param complaints receives problems that later records or attempts may cure
   * @return empty if blobs are missing, which {@link Candidate#lacking} tells
   * @throws SnapshotException if a blob is not what the manifest says, which no later record can
   *     cure
   */
  Optional<CatchUp> load(
      Candidate candidate,
      Collection<SnapshotSet> held,
      long nowMillis,
      Consumer<String> complaints)
      throws SnapshotException {
    boolean isElsewhere = isElsewhere(candidate);
    if (nowMillis < candidate.triesAgainMillis) {
      return Optional.empty();
    }
    if (isElsewhere
        ? nowMillis < candidate.fetchesAgainMillis
        : !candidate.lacking.isEmpty() && candidate.lacking.stream().noneMatch(chunks::isWhole)) {
      return Optional.empty();
    }
    BlobLoader loader =
        isElsewhere
            ? new Fetching(candidate, complaints)
            : blob -> assemble(candidate, blob, complaints);
    long beganNanos = System.nanoTime();
    try {
      return Optional.of(CatchUp.to(candidate.manifest, held, loader));
    } catch (MissingBlobsException e) {
      candidate.lacking = e.blobs();
    } catch (SnapshotException e) {
      throw e;
    } catch (IOException e) {
      // The loader has reported it.
    } catch (RuntimeException | Error e) {
      // Of a user's loader, or of a set that is too large. Other sets must not wait for this one.
      fetched.clear();
      LOG.warn("sequence {} of set '{}'", candidate.sequence(), settings.setName(), e);
      complaints.accept(
          "sequence %d of set '%s' cannot be loaded: %s"
              .formatted(candidate.sequence(), settings.setName(), e));
      candidate.triesPauseMillis =
          Math.min(MAX_PAUSE_MILLIS, Math.max(MIN_PAUSE_MILLIS, 2 * candidate.triesPauseMillis));
      candidate.triesAgainMillis = after(nowMillis, beganNanos) + candidate.triesPauseMillis;
    }
    candidate.fetchesAgainMillis = after(nowMillis, beganNanos) + FETCH_RETRY_MILLIS;
    return Optional.empty();
  }

  /** A load may take longer than the pause after it. */
  private static long after(long nowMillis, long beganNanos) {
    return nowMillis + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNanos);
  }

  /** Forgets the blobs that were fetched for a candidate. */
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
        complaints.accept(complaint(candidate, blob, "is damaged", e));
      }
    }
    throw new MissingBlobsException(List.of(blob));
  }

  private String complaint(Candidate candidate, BlobReference blob, String what, IOException e) {
    return "blob %s of sequence %d of set '%s' %s: %s"
        .formatted(blob.digest(), candidate.sequence(), settings.setName(), what, e.getMessage());
  }

  /** Fetches blobs from where the manifest or the user says. */
  private final class Fetching implements BlobLoader {
    private final Candidate candidate;
    private final Consumer<String> complaints;

    Fetching(Candidate candidate, Consumer<String> complaints) {
      this.candidate = candidate;
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
        ByteBuffer bytes = settings.blobs().fetch(candidate.manifest, blob);
        fetched.put(blob.digest(), bytes.duplicate());
        return bytes;
      } catch (IOException e) {
        complaints.accept(complaint(candidate, blob, "cannot be fetched", e));
        // A SnapshotException would say that the manifest can never be used.
        throw e instanceof MissingBlobsException ? e : new IOException(e.getMessage(), e);
      }
    }

    @Override
    public long requestBytes() {
      return BlobSource.REQUEST_BYTES;
    }
  }
}
