package io.firstseen.consumer.internal;

import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.Sha256;
import io.firstseen.filters.snapshot.SnapshotException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The state that a cache keeps for the next start of the process. Its bytes are the SHA-256 of the
 * following bytes, then one line each for version, topic, topic id, offset, time, and sequence and
 * digest of the highest manifest, then one line per shard, then the manifest.
 *
 * @param topic the name of the topic
 * @param topicId its id; empty if not known
 * @param resumeOffset the offset to read the topic from
 * @param publishedMillis as in {@link ActiveSnapshot}
 * @param highest the highest manifest that was active; higher than the kept manifest if a lower
 *     sequence was pinned
 * @param digests the digest of each shard's snapshot, which names its file; empty if the shard has
 *     no snapshot
 * @param manifest the manifest of the active snapshot
 */
public record CachedState(
    String topic,
    String topicId,
    long resumeOffset,
    long publishedMillis,
    ManifestOrder.Highest highest,
    List<String> digests,
    Manifest manifest) {
  private static final String VERSION = "firstseen-cache-4";
  private static final int DIGEST_CHARS = 64;
  private static final int LINES_BEFORE_DIGESTS = 8;

  byte[] toBytes() {
    List<String> lines =
        new ArrayList<>(
            List.of(
                VERSION,
                topic,
                topicId,
                Long.toString(resumeOffset),
                Long.toString(publishedMillis),
                Long.toString(highest.sequence()),
                highest.contentDigest(),
                Integer.toString(digests.size())));
    lines.addAll(digests);
    // Latin-1 keeps the bytes of the manifest.
    lines.add(new String(manifest.toBytes(), StandardCharsets.ISO_8859_1));
    byte[] body = String.join("\n", lines).getBytes(StandardCharsets.ISO_8859_1);
    byte[] digest = (Sha256.hex(body) + "\n").getBytes(StandardCharsets.US_ASCII);
    return ByteBuffer.allocate(digest.length + body.length).put(digest).put(body).array();
  }

  static CachedState read(byte[] bytes) throws SnapshotException {
    int bodyAt = Math.min(bytes.length, DIGEST_CHARS + 1);
    byte[] body = Arrays.copyOfRange(bytes, bodyAt, bytes.length);
    String stated = new String(bytes, 0, bodyAt, StandardCharsets.ISO_8859_1);
    if (!stated.equals(Sha256.hex(body) + "\n")) {
      throw new MalformedSnapshotException("its state is damaged");
    }
    String text = new String(body, StandardCharsets.ISO_8859_1);
    String[] lines = text.split("\n", LINES_BEFORE_DIGESTS + 1);
    if (lines.length <= LINES_BEFORE_DIGESTS || !lines[0].equals(VERSION)) {
      throw new MalformedSnapshotException("it was written by another version");
    }
    try {
      int shards = Integer.parseInt(lines[7]);
      String[] rest = lines[LINES_BEFORE_DIGESTS].split("\n", shards + 1);
      return new CachedState(
          lines[1],
          lines[2],
          Long.parseLong(lines[3]),
          Long.parseLong(lines[4]),
          new ManifestOrder.Highest(Long.parseLong(lines[5]), lines[6]),
          List.of(rest).subList(0, shards),
          Manifest.read(rest[shards].getBytes(StandardCharsets.ISO_8859_1)));
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      throw new MalformedSnapshotException("its state is damaged", e);
    }
  }
}
