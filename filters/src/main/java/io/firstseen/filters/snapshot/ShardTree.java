package io.firstseen.filters.snapshot;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The Merkle tree over the sets of all shards. Its root identifies the set of a whole manifest.
 * Leaves and nodes are hashed with different first bytes, as in RFC 6962, section 2.1.
 */
public final class ShardTree {
  private static final byte LEAF = 0;
  private static final byte NODE = 1;

  private ShardTree() {}

  /**
   * The set of a shard.
   *
   * @param setDigest its {@link SetDigest}, as hexadecimal digits
   * @param hashCount the number of its live hashes
   */
  public record Leaf(String setDigest, long hashCount) {
    /** A shard that never held a key. */
    public static final Leaf NONE = new Leaf("0".repeat(64), 0);

    /** Returns the leaf of a snapshot; null means a shard that never held a key. */
    public static Leaf of(@Nullable Snapshot snapshot) {
      return snapshot == null
          ? NONE
          : new Leaf(snapshot.header().setDigest(), snapshot.header().hashCount());
    }
  }

  /**
   * Returns the root.
   *
   * @param leaves one for each shard, as many as a power of two
   * @return 64 hexadecimal digits
   */
  public static String root(List<Leaf> leaves) {
    if (Integer.bitCount(leaves.size()) != 1) {
      throw new IllegalArgumentException(
          "the number of shards must be a power of two, got " + leaves.size());
    }
    MessageDigest sha256 = Sha256.newDigest();
    ByteBuffer count = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    List<byte[]> level = new ArrayList<>();
    for (Leaf leaf : leaves) {
      sha256.update(LEAF);
      sha256.update(HexFormat.of().parseHex(leaf.setDigest));
      level.add(sha256.digest(count.putLong(0, leaf.hashCount).array()));
    }
    while (level.size() > 1) {
      List<byte[]> above = new ArrayList<>(level.size() / 2);
      for (int i = 0; i < level.size(); i += 2) {
        sha256.update(NODE);
        sha256.update(level.get(i));
        above.add(sha256.digest(level.get(i + 1)));
      }
      level = above;
    }
    return HexFormat.of().formatHex(level.get(0));
  }
}
