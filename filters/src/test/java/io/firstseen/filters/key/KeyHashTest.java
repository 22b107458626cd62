package io.firstseen.filters.key;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class KeyHashTest {
  @Test
  void sipHashGivesThePapersExample() {
    KeyHash hash = KeyHash.parse("000102030405060708090a0b0c0d0e0f");
    byte[] message = HexFormat.of().parseHex("000102030405060708090a0b0c0d0e");
    assertThat(hash.hash(message)).isEqualTo(0xa129ca6149be45e5L);
  }
}
