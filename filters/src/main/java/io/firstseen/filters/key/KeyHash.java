package io.firstseen.filters.key;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import java.io.IOException;
import java.io.InvalidObjectException;
import java.io.ObjectInputStream;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * The keyed 64-bit hash of a joined key (see {@link ScopedKey}); filters and snapshots only use
 * this hash. Immutable, safe for use by many threads; hashing does not allocate.
 *
 * <p>Senders of spam are adversaries: anyone who can compute the hash can make keys that collide.
 * The default is therefore {@link Algorithm#SIPHASH_2_4} with a secret 128-bit key (Aumasson,
 * Bernstein: SipHash, a fast short-input PRF, 2012). {@link Algorithm#XXH3_64} is faster but not
 * secure; use it for trusted input only.
 *
 * <p>State and snapshots hold {@link #algorithm()} and {@link #keyCheck()}, not the key. It is
 * {@link Serializable} so that a job's functions can contain it. Its serialised form holds the key,
 * so anyone who can read a stored job that contains it obtains the key.
 */
public final class KeyHash implements Serializable {
  private static final long serialVersionUID = 1L;

  /** The length of SipHash's key in bytes. */
  private static final int KEY_BYTES = 16;

  private static final byte[] FIXED_KEY = "firstseen-public".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] CHECK_MESSAGE =
      "firstseen key check".getBytes(StandardCharsets.US_ASCII);

  /** The supported hash functions; ids and codes are part of stored formats. */
  public enum Algorithm {
    /** SipHash-2-4 with a 128-bit key. */
    SIPHASH_2_4("siphash-2-4", 1),
    /** XXH3, 64 bits, with a 64-bit seed. */
    XXH3_64("xxh3-64", 2);

    private final String id;
    private final int code;

    Algorithm(String id, int code) {
      this.id = id;
      this.code = code;
    }

    /** Returns the name in manifests and options. */
    public String id() {
      return id;
    }

    /** Returns the number in binary headers. */
    public int code() {
      return code;
    }

    /**
     * Returns the algorithm with the id {@code id}.
     *
     * @throws IllegalArgumentException if no algorithm has this id
     */
    public static Algorithm of(String id) {
      for (Algorithm algorithm : values()) {
        if (algorithm.id.equals(id)) {
          return algorithm;
        }
      }
      throw new IllegalArgumentException(
          "hash must be one of siphash-2-4, xxh3-64, got '" + id + "'");
    }

    /**
     * Returns the algorithm with the code {@code code}.
     *
     * @throws IllegalArgumentException if no algorithm has this code
     */
    public static Algorithm of(int code) {
      for (Algorithm algorithm : values()) {
        if (algorithm.code == code) {
          return algorithm;
        }
      }
      throw new IllegalArgumentException("hash code must be in [1, 2], got " + code);
    }
  }

  private final Algorithm algorithm;
  // SipHash's key, or XXH3's seed as 8 bytes, little-endian.
  private final byte[] key;
  // Null for SipHash. Transient fields are written only by the constructor and readObject, which is
  // why they cannot be final.
  private transient Hasher64 xxh3;
  private transient long key0;
  private transient long key1;
  private transient long keyCheck;

  private KeyHash(Algorithm algorithm, byte[] key) {
    this.algorithm = algorithm;
    this.key = key;
    prepare();
  }

  private void prepare() {
    switch (algorithm) {
      case SIPHASH_2_4 -> {
        key0 = little(key).getLong();
        key1 = little(key).getLong(Long.BYTES);
      }
      case XXH3_64 -> xxh3 = Hashing.xxh3_64(little(key).getLong());
    }
    keyCheck = hash(CHECK_MESSAGE);
  }

  private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
    in.defaultReadObject();
    if (algorithm == null || key == null || key.length != keyBytes(algorithm)) {
      throw new InvalidObjectException("a key hash needs an algorithm and a key that fits it");
    }
    prepare();
  }

  private static int keyBytes(Algorithm algorithm) {
    return algorithm == Algorithm.SIPHASH_2_4 ? KEY_BYTES : Long.BYTES;
  }

  private static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Returns SipHash-2-4 with the key {@code key16}.
   *
   * @throws IllegalArgumentException if the key is not 16 bytes long
   */
  public static KeyHash sipHash24(byte[] key16) {
    if (key16.length != KEY_BYTES) {
      throw new IllegalArgumentException(
          "a SipHash key must be " + KEY_BYTES + " bytes, got " + key16.length);
    }
    return new KeyHash(Algorithm.SIPHASH_2_4, key16.clone());
  }

  /** Returns XXH3 (64 bits) with the seed {@code seed}; for trusted input only. */
  public static KeyHash xxh3(long seed) {
    byte[] key = new byte[Long.BYTES];
    little(key).putLong(seed);
    return new KeyHash(Algorithm.XXH3_64, key);
  }

  /**
   * Returns SipHash-2-4 with the public key {@code firstseen-public} (these 16 ASCII characters),
   * which is used if no key is configured. The key is public, so it gives no protection.
   */
  public static KeyHash fixed() {
    return new KeyHash(Algorithm.SIPHASH_2_4, FIXED_KEY.clone());
  }

  /**
   * Returns SipHash-2-4 with a key of 32 hexadecimal digits, of either case.
   *
   * @throws IllegalArgumentException if {@code hexKey} has another form; the message does not
   *     contain it, since it may be a mistyped secret
   */
  public static KeyHash parse(String hexKey) {
    String required = "a hash key must be " + 2 * KEY_BYTES + " hexadecimal digits, ";
    if (hexKey.length() != 2 * KEY_BYTES) {
      throw new IllegalArgumentException(required + "got " + hexKey.length() + " characters");
    }
    for (int i = 0; i < hexKey.length(); i++) {
      if (!HexFormat.isHexDigit(hexKey.charAt(i))) {
        throw new IllegalArgumentException(required + "character " + (i + 1) + " is not one");
      }
    }
    return new KeyHash(Algorithm.SIPHASH_2_4, HexFormat.of().parseHex(hexKey));
  }

  /**
   * Returns SipHash-2-4 with the key in {@code file}: 32 hexadecimal digits; white space around
   * them is ignored. Logs a warning if users other than its owner may read or change the file.
   *
   * @throws IOException if the file cannot be read
   * @throws IllegalArgumentException if the file holds anything else
   */
  public static KeyHash fromFile(Path file) throws IOException {
    SecretFiles.warnIfAccessible(file);
    // Latin-1 decodes any bytes, so parse() rejects a wrong file with its own message.
    return parse(Files.readString(file, StandardCharsets.ISO_8859_1).strip());
  }

  /** Returns the hash of a joined key. Uniform over all 64 bits; allocates nothing. */
  public long hash(byte[] joined) {
    return hash(joined, 0, joined.length);
  }

  /** Like {@link #hash(byte[])}, of the bytes from {@code from} to {@code to}, exclusive. */
  public long hash(byte[] bytes, int from, int to) {
    return xxh3 == null
        ? SipHash24.hash(key0, key1, bytes, from, to)
        : xxh3.hashBytesToLong(bytes, from, to - from);
  }

  /** Returns an object that hashes many parts of an array at once. */
  public PartHashes parts() {
    return new PartHashes(this);
  }

  void start(long[] v0, long[] v1, long[] v2, long[] v3, int count) {
    Arrays.fill(v0, 0, count, key0 ^ SipHash24.V0);
    Arrays.fill(v1, 0, count, key1 ^ SipHash24.V1);
    Arrays.fill(v2, 0, count, key0 ^ SipHash24.V2);
    Arrays.fill(v3, 0, count, key1 ^ SipHash24.V3);
  }

  /** Returns the hash function. */
  public Algorithm algorithm() {
    return algorithm;
  }

  /**
   * Returns the hash of the ASCII message {@code firstseen key check} under this key. Two programs
   * compare it to find out whether they use the same key. With SipHash it reveals nothing about the
   * key; with XXH3 it may reveal the seed, which is not a secret.
   */
  public long keyCheck() {
    return keyCheck;
  }

  /** Returns whether this is {@link #fixed()}: SipHash-2-4 under the key that everyone knows. */
  public boolean isFixedKey() {
    return algorithm == Algorithm.SIPHASH_2_4 && Arrays.equals(key, FIXED_KEY);
  }

  /** Returns whether these are the algorithm and the key check of {@link #fixed()}. */
  public static boolean isFixedKeyCheck(Algorithm algorithm, long keyCheck) {
    KeyHash fixed = fixed();
    return algorithm == fixed.algorithm && keyCheck == fixed.keyCheck;
  }

  /** Returns the algorithm and the key check; never the key. */
  @Override
  public String toString() {
    return algorithm.id() + " (key check " + HexFormat.of().toHexDigits(keyCheck()) + ")";
  }
}
