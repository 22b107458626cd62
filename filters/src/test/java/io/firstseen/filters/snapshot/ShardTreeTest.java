package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.snapshot.ShardTree.Leaf;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShardTreeTest {
  private static final Leaf A = new Leaf("aa".repeat(32), 3);
  private static final Leaf B = new Leaf("bb".repeat(32), 0x0102030405L);

  /** Computed by Python's hashlib. */
  @Test
  void hasTheSpecifiedValues() {
    assertThat(ShardTree.root(List.of(Leaf.NONE)))
        .isEqualTo("9e1736c43d19118e6ce4302118af337109491ecc52757dfb949bad6a7940b0c2");
    assertThat(ShardTree.root(List.of(A)))
        .isEqualTo("98ea40ca5b982ef94fd2807dcec3b00061efc804f67ebe070345986d7bad570b");
    assertThat(ShardTree.root(List.of(A, B)))
        .isEqualTo("121cfbc2ed85cb7de7b67e40ddee38592d8ed4e39c6e5abe893860379eb54fe2");
    assertThat(ShardTree.root(List.of(A, Leaf.NONE, Leaf.NONE, B)))
        .isEqualTo("649e6260246e6ae3d5b10cd8b111dddb70001e07b623bb25d3a12e315f5d362b");
    assertThat(ShardTree.root(Collections.nCopies(65_536, Leaf.NONE)))
        .isEqualTo("626a58fcd9880988344d7dde2c26c4b143dcc4e55d4dec24a2fc27a0d17ca7a1");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 4, 8, 64, 1024})
  void isTheTreeOfItsDefinition(int shards) throws Exception {
    SplittableRandom random = new SplittableRandom(302);
    List<Leaf> leaves = new ArrayList<>();
    byte[] bytes = new byte[32];
    for (int i = 0; i < shards; i++) {
      random.nextBytes(bytes);
      leaves.add(
          random.nextInt(4) == 0
              ? Leaf.NONE
              : new Leaf(HexFormat.of().formatHex(bytes), random.nextLong(1L << 40)));
    }
    assertThat(ShardTree.root(leaves)).isEqualTo(HexFormat.of().formatHex(root(leaves)));
  }

  private static byte[] root(List<Leaf> leaves) throws Exception {
    MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
    if (leaves.size() == 1) {
      sha256.update((byte) 0);
      sha256.update(HexFormat.of().parseHex(leaves.get(0).setDigest()));
      for (int i = 0; i < 8; i++) {
        sha256.update((byte) (leaves.get(0).hashCount() >>> (8 * i)));
      }
      return sha256.digest();
    }
    int half = leaves.size() / 2;
    sha256.update((byte) 1);
    sha256.update(root(leaves.subList(0, half)));
    return sha256.digest(root(leaves.subList(half, leaves.size())));
  }

  @Test
  void dependsOnThePlaceOfEachLeafAndOnItsCount() {
    List<String> roots = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      for (Leaf leaf : List.of(A, Leaf.NONE, new Leaf(A.setDigest(), 4))) {
        List<Leaf> leaves = new ArrayList<>(Collections.nCopies(8, B));
        leaves.set(i, leaf);
        roots.add(ShardTree.root(leaves));
      }
    }
    assertThat(roots).doesNotHaveDuplicates();
  }

  @Test
  void aShardThatNeverHeldAKeyIsNotAnEmptyOne() {
    Snapshot empty = Snapshot.build(new long[0], SnapshotTest.parameters(1, 0, 0.001));
    assertThat(ShardTree.root(List.of(Leaf.of(empty))))
        .isNotEqualTo(ShardTree.root(List.of(Leaf.of(null))));
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3, 6, 65_535})
  void refusesOtherNumbersOfShards(int shards) {
    assertThatThrownBy(() -> ShardTree.root(Collections.nCopies(shards, A)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("shards", "power of two", "got " + shards);
  }
}
