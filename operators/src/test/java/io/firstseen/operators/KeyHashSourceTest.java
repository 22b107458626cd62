package io.firstseen.operators;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.KeyHash;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HexFormat;
import org.apache.flink.runtime.throwable.ThrowableClassifier;
import org.apache.flink.runtime.throwable.ThrowableType;
import org.apache.flink.util.InstantiationUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KeyHashSourceTest {
  private static final String KEY = "9f03c7716ee24ab85d1c90f2a63b47de";
  private static final String OTHER = "000102030405060708090a0b0c0d0e0f";
  private static final KeyHash HASH = KeyHash.parse(KEY);

  @TempDir private Path directory;

  private static KeyHashSource sent(KeyHashSource source) throws Exception {
    return InstantiationUtil.clone(source);
  }

  private static boolean holdsKey(KeyHashSource source) throws Exception {
    String raw = new String(HexFormat.of().parseHex(KEY), StandardCharsets.ISO_8859_1);
    byte[] bytes = InstantiationUtil.serializeObject(source);
    return new String(bytes, StandardCharsets.ISO_8859_1).contains(raw);
  }

  private Path file(String key) throws Exception {
    return Files.writeString(Files.createTempFile(directory, "hash", ".key"), key);
  }

  @Test
  void theHashGoesWithTheJobOrOnlyItsCheckDoes() throws Exception {
    KeyHashSource inJob = KeyHashSource.inJob(HASH);
    KeyHashSource onWorkers = KeyHashSource.onWorkers(file(KEY));
    assertThat(holdsKey(inJob)).isTrue();
    assertThat(holdsKey(onWorkers)).isFalse();
    for (KeyHashSource source : new KeyHashSource[] {inJob, onWorkers}) {
      KeyHashSource received = sent(source);
      assertThat(received.algorithm()).isEqualTo(HASH.algorithm());
      assertThat(received.keyCheck()).isEqualTo(HASH.keyCheck());
      assertThat(received.open().keyCheck()).isEqualTo(HASH.keyCheck());
    }
  }

  @Test
  void aReaderOfTheUsersIsAskedWhereTheTaskIs() throws Exception {
    KeyHashSource source = sent(KeyHashSource.onWorkers(KeyHash.xxh3(7), () -> KeyHash.xxh3(7)));
    assertThat(source.open().algorithm()).isEqualTo(KeyHash.Algorithm.XXH3_64);
  }

  @Test
  void anotherKeyIsRefused() throws Exception {
    Path file = file(KEY);
    KeyHashSource source = sent(KeyHashSource.onWorkers(file));
    Files.writeString(file, OTHER);
    assertRefused(
        source,
        "the hash key at %s on this TaskManager has key check %016x, but the job's hash key has %016x: put the job's key there"
            .formatted(file, KeyHash.parse(OTHER).keyCheck(), HASH.keyCheck()));
    assertRefused(
        KeyHashSource.onWorkers(HASH, KeyHash::fixed),
        "(it is the public one), but the job's hash key has");
  }

  @Test
  void aKeyThatIsNotThereOrCannotBeReadIsRefused() throws Exception {
    Path file = file(KEY);
    KeyHashSource source = sent(KeyHashSource.onWorkers(file));
    Files.writeString(file, "secret");
    assertRefused(
        source,
        "cannot read the hash key at %s on this TaskManager: a hash key must be 32 hexadecimal digits, got 6 characters: put the job's key there"
            .formatted(file));
    Files.delete(file);
    assertRefused(
        source,
        "cannot read the hash key at %s on this TaskManager: there is no such file: put the job's key there"
            .formatted(file));
    assertThatThrownBy(() -> KeyHashSource.onWorkers(file)).isInstanceOf(NoSuchFileException.class);
    Files.createDirectory(file);
    assertRefused(
        source,
        "cannot read the hash key at %s on this TaskManager: it is a directory: put the job's key there"
            .formatted(file));
  }

  /** The disk may answer again: the job restarts. */
  @Test
  void aFileThatCannotBeReadForAMomentIsNotTheEndOfTheJob() {
    KeyHashSource source =
        KeyHashSource.onWorkers(
            HASH,
            () -> {
              throw new IOException("Stale file handle");
            });
    assertThatThrownBy(source::open)
        .isInstanceOf(UncheckedIOException.class)
        .hasMessageStartingWith("cannot read the hash key at ")
        .satisfies(
            failure ->
                assertThat(ThrowableClassifier.getThrowableType(failure))
                    .isEqualTo(ThrowableType.RecoverableError));
  }

  private static void assertRefused(KeyHashSource source, String sentence) {
    assertThatThrownBy(source::open)
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining(sentence)
        .satisfies(
            refusal ->
                assertThat(ThrowableClassifier.getThrowableType(refusal))
                    .isEqualTo(ThrowableType.NonRecoverableError));
  }
}
