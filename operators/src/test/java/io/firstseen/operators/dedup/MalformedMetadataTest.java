package io.firstseen.operators.dedup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.Arrays;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointProperties;
import org.apache.flink.runtime.checkpoint.Checkpoints;
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

  /** An object that an attacker might put into metadata. */
  private static final class UntrustedObject implements Serializable {
    private static final long serialVersionUID = 1;
    private static int made;

    private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
      in.defaultReadObject();
      made++;
    }
  }

  private static byte[] withProperties(Serializable properties) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.writeInt(Checkpoints.HEADER_MAGIC_NUMBER);
    out.writeInt(6); // the version
    out.writeLong(1); // the checkpoint
    out.writeInt(0); // states of masters
    out.writeInt(0); // operators
    new ObjectOutputStream(out).writeObject(properties);
    return bytes.toByteArray();
  }

  @Test
  void hasNoObjectsButTheProperties() throws Exception {
    assertThat(
            operators(
                withProperties(
                    CheckpointProperties.forSavepoint(false, SavepointFormatType.NATIVE))))
        .isZero();
    assertThatThrownBy(() -> operators(withProperties(new UntrustedObject())))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("an object that is not in a checkpoint's properties");
    assertThat(UntrustedObject.made).isZero();
  }
}
