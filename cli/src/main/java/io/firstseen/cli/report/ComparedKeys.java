package io.firstseen.cli.report;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.firstseen.filters.key.KeyHash;
import java.util.Arrays;
import java.util.Collections;
import java.util.Random;
import java.util.Set;

/**
 * Distinct keys in an order that is independent of their values, their hashes, and absent keys:
 * similar keys outside the set. The order and the absent keys are deterministic.
 *
 * <p>A key is a string whose characters are the bytes of its canonical form, prefixed with its
 * scope.
 */
final class ComparedKeys {
  private static final long SEED = 20261120;

  /** Separates a key from an appended number in an absent key. */
  private static final char ABSENT_KEY_MARK = '\0';

  /** The keys. Callers must not change the array. */
  final String[] keys;

  final KeyHash keyHash;

  /** The hashes of the keys. Callers must not change the array. */
  final long[] hashes;

  final long keyBytes;

  ComparedKeys(Set<String> keys, KeyHash keyHash) {
    this.keys = keys.toArray(String[]::new);
    // A hash set iterates in the order of its table; filling another hash set in that order would
    // be unrealistically fast.
    Collections.shuffle(Arrays.asList(this.keys), new Random(SEED));
    this.keyBytes = keys.stream().mapToLong(String::length).sum();
    this.keyHash = keyHash;
    this.hashes = Arrays.stream(this.keys).mapToLong(this::hashOf).toArray();
  }

  /** A key in its canonical form, prefixed with its scope, as a string. */
  static String of(byte[] joined) {
    return new String(joined, ISO_8859_1);
  }

  /** The {@code i}-th candidate for an absent key, from 0 without limit. */
  String absentKeyCandidate(long i) {
    return keys[(int) (i % keys.length)] + ABSENT_KEY_MARK + i / keys.length;
  }

  long hashOf(String key) {
    return keyHash.hash(bytesOf(key));
  }

  static byte[] bytesOf(String key) {
    return key.getBytes(ISO_8859_1);
  }

  /** An equal string without a cached hash code. */
  static String fresh(String key) {
    return of(bytesOf(key));
  }
}
