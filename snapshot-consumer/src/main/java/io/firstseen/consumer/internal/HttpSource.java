package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.BlobLoader;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The snapshots of a set in a {@link SnapshotDirectory} whose files a web server provides. Reads
 * the copy of the newest manifest, and the blobs.
 */
public final class HttpSource implements SnapshotSource {
  private static final Duration ANSWER_TIMEOUT = Duration.ofSeconds(60);
  private static final int MAX_MANIFEST_BYTES = 16_384;

  private final URI directory;
  private final HttpFetch http = new HttpFetch(ANSWER_TIMEOUT);
  private final BlobSource blobs;
  private @Nullable String etag;
  private byte[] newest = new byte[0];
  private List<Long> sequences = List.of();

  /**
   * Creates a source.
   *
   * @param address the address of the directory, with http or https
   * @throws IllegalArgumentException if the address cannot be used
   */
  public HttpSource(URI address) {
    if (!isHttp(address.toString()) || address.getHost() == null) {
      throw new IllegalArgumentException(
          "the address of a directory must begin with http:// or https:// and a host, got "
              + address);
    }
    directory = address.getPath().endsWith("/") ? address : URI.create(address + "/");
    blobs = new BlobSource(directory.resolve("blobs"), null, false);
  }

  /** Returns whether a text is the address of a directory on a web server. */
  public static boolean isHttp(String text) {
    return text.regionMatches(true, 0, "http://", 0, 7)
        || text.regionMatches(true, 0, "https://", 0, 8);
  }

  @Override
  public String place() {
    return directory.toString();
  }

  /** Reads the manifest again. The result is its sequence. */
  @Override
  public List<Long> sequences() throws SnapshotException {
    URI uri = directory.resolve(SnapshotDirectory.NEWEST_MANIFEST);
    try {
      HttpFetch.Reply reply = http.get(uri, etag, MAX_MANIFEST_BYTES);
      if (reply.status() == HttpFetch.OK) {
        byte[] bytes = new byte[reply.body().remaining()];
        reply.body().get(bytes);
        sequences = List.of(Manifest.read(bytes).sequence());
        newest = bytes;
        etag = reply.etag().orElse(null);
      } else if (reply.status() != HttpFetch.NOT_MODIFIED) {
        throw new SnapshotException(reply.problem());
      }
      return sequences;
    } catch (SnapshotException e) {
      throw e.getMessage().startsWith(uri.toString()) ? e : e.at(uri);
    } catch (IOException e) {
      throw new SnapshotException(e.getMessage(), e);
    }
  }

  @Override
  public Object version(long sequence) {
    return ByteBuffer.wrap(newest);
  }

  @Override
  public byte[] manifest(long sequence) {
    return newest.clone();
  }

  @Override
  public BlobLoader blobs(Manifest manifest) {
    return new BlobLoader() {
      @Override
      public ByteBuffer load(BlobReference blob) throws IOException {
        return blobs.fetch(manifest, blob);
      }

      @Override
      public long requestBytes() {
        return BlobSource.REQUEST_BYTES;
      }
    };
  }

  /** Returns empty: the web server provides the blobs itself. */
  @Override
  public Optional<ByteBuffer> find(Manifest manifest, String digest) {
    return Optional.empty();
  }
}
