package io.firstseen.server;

import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.server.http.Endpoint;
import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.ImmutableContent;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.Request;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * {@code GET /v1/blobs/{sha256}}: the bytes of a blob, named by their digest.
 *
 * @param isPublic whether caches may share blobs with clients without a token
 */
record BlobEndpoint(ServedSets sets, boolean isPublic) implements Endpoint {
  static final String PATH = "/v1/blobs/";

  @Override
  public Reply answer(Request request) throws HttpFailure {
    request.query();
    String digest = request.path().substring(PATH.length());
    if (!Sha256.isHex(digest)) {
      throw new HttpFailure(404, "a blob is named by 64 lower-case hexadecimal digits");
    }
    for (ServedSet set : sets.all()) {
      Optional<ByteBuffer> blob = set.blob(digest);
      if (blob.isPresent()) {
        String cacheControl = (isPublic ? "public" : "private") + ", max-age=31536000, immutable";
        return new ImmutableContent("application/octet-stream", digest, blob.get(), cacheControl)
            .answer(request);
      }
    }
    throw new HttpFailure(
        404, "there is no blob " + digest + " in the active snapshots or their predecessors");
  }
}
