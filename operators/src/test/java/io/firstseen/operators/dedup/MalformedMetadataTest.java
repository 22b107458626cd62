package io.firstseen.operators.dedup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Metadata of savepoints that Flink did not write so. */
class MalformedMetadataTest {
  private static final String STORED =
      "/io/firstseen/operators/restores/savepoints-v1/heap/_metadata";

  private byte[] good;

  @BeforeEach
  void read() throws IOException {
    try (InputStream in = getClass().getResourceAsStream(STORED)) {
      good = in.readAllBytes();
    }
  }

  private static int operators(byte[] metadata) throws IOException {
    return DedupSavepoint.readMetadata(
            new DataInputStream(new ByteArrayInputStream(metadata)), directory())
        .getOperatorStates()
        .size();
  }

  /** Flink looks for it, as files of the state are named relative to it. */
  private static String directory() {
    String file = MalformedMetadataTest.class.getResource(STORED).toString();
    return file.substring(0, file.lastIndexOf('/'));
  }

  @Test
  void isRefusedWhereverItEnds() throws IOException {
    assertThat(operators(good)).isPositive();
    for (int length = 0; length < good.length; length++) {
      byte[] cut = Arrays.copyOf(good, length);
      assertThatThrownBy(() -> operators(cut)).isInstanceOf(IOException.class);
    }
  }

  @Test
  void failsInOneWayOnly() {
    int refused = 0;
    for (int at = 0; at < good.length; at += 29) {
      for (int other : new int[] {0x00, 0x81, 0xFF}) {
        byte[] bytes = good.clone();
        bytes[at] = (byte) other;
        try {
          operators(bytes);
        } catch (IOException e) {
          refused++;
        }
      }
    }
    assertThat(refused).isGreaterThan(good.length / 290);
  }
}
