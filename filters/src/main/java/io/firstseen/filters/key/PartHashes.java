package io.firstseen.filters.key;

/**
 * Hashes many parts of an array at once, which is faster than one by one if they have the same
 * number of words of 8 bytes. Holds scratch space, so an object must be used by one thread.
 */
public final class PartHashes {
  private final KeyHash hash;
  // The state of SipHash for each part, and the current word of its message.
  private long[] v0 = {};
  private long[] v1 = {};
  private long[] v2 = {};
  private long[] v3 = {};
  private long[] message = {};

  PartHashes(KeyHash hash) {
    this.hash = hash;
  }

  /**
   * Returns the hash of each part, as {@link KeyHash#hash(byte[], int, int)} gives it. The array
   * may be longer than the number of parts, and the next call changes it.
   *
   * @param from where each part starts
   * @param to where each part ends, exclusive
   * @param count the number of parts
   */
  public long[] hash(byte[] bytes, int[] from, int[] to, int count) {
    if (count > message.length) {
      v0 = new long[2 * count];
      v1 = new long[2 * count];
      v2 = new long[2 * count];
      v3 = new long[2 * count];
      message = new long[2 * count];
    }
    int words = hash.algorithm() == KeyHash.Algorithm.SIPHASH_2_4 ? words(from, to, count) : 0;
    if (words > 0) {
      hash.start(v0, v1, v2, v3, count);
      for (int word = 0; word < words; word++) {
        for (int i = 0; i < count; i++) {
          message[i] = SipHash24.message(bytes, from[i], to[i], word);
        }
        SipHash24.add(v0, v1, v2, v3, message, count);
      }
      SipHash24.finish(v0, v1, v2, v3, message, count);
    } else {
      for (int i = 0; i < count; i++) {
        message[i] = hash.hash(bytes, from[i], to[i]);
      }
    }
    return message;
  }

  /** Returns the number of words of each part's message; 0 if the parts differ in it. */
  private static int words(int[] from, int[] to, int count) {
    int words = 0;
    for (int i = 0; i < count; i++) {
      int ofPart = (to[i] - from[i]) / Long.BYTES + 1;
      if (i > 0 && ofPart != words) {
        return 0;
      }
      words = ofPart;
    }
    return words;
  }
}
