package io.firstseen.server.http;

import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * Content with a strong entity tag, which supports conditional requests and range requests (RFC
 * 9110, sections 13 and 14). A request for several ranges gets the whole content, as allowed.
 */
public final class ImmutableContent {
  private final String contentType;
  private final String entityTag;
  private final ByteBuffer bytes;
  private final String cacheControl;

  /**
   * Creates content.
   *
   * @param tag the entity tag without its quotes; equal tags mean equal bytes
   * @param bytes must not be changed
   */
  public ImmutableContent(String contentType, String tag, ByteBuffer bytes, String cacheControl) {
    this.contentType = contentType;
    this.entityTag = '"' + tag + '"';
    this.bytes = bytes;
    this.cacheControl = cacheControl;
  }

  /**
   * Returns the reply to a GET or HEAD: 200, 206 with a part, or 304 if the peer has the content.
   *
   * @throws HttpFailure with 416 if the range lies beyond the content
   */
  public Reply answer(Request request) throws HttpFailure {
    String wanted = request.header("if-none-match");
    if (wanted != null && names(wanted)) {
      return described(Reply.empty(304));
    }
    String ifRange = request.header("if-range");
    boolean isCurrent = ifRange == null || ifRange.strip().equals(entityTag);
    Optional<ByteRange> range =
        request.method().equals("GET") && isCurrent
            ? ByteRange.parse(request.header("range"), bytes.remaining())
            : Optional.empty();
    if (range.isEmpty()) {
      return described(Reply.of(200, contentType, bytes.duplicate()));
    }
    ByteRange part = range.get();
    ByteBuffer partBytes = bytes.slice(bytes.position() + part.start(), part.length());
    return described(Reply.of(206, contentType, partBytes))
        .header("content-range", part.contentRange());
  }

  private Reply described(Reply reply) {
    return reply
        .header("etag", entityTag)
        .header("accept-ranges", "bytes")
        .header("cache-control", cacheControl);
  }

  /** Returns whether a list of entity tags contains this tag, by weak comparison. */
  private boolean names(String list) {
    for (String each : list.split(",", -1)) {
      String tag = each.strip();
      if (tag.equals("*") || tag.equals(entityTag) || tag.equals("W/" + entityTag)) {
        return true;
      }
    }
    return false;
  }
}
