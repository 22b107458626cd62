package io.firstseen.filters.gcs.interop;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** The hash functions of the other programs; none of them is considered secure any more. */
enum Digest {
  MD5("MD5"),
  SHA_1("SHA-1");

  private final String algorithm;

  Digest(String algorithm) {
    this.algorithm = algorithm;
  }

  byte[] of(byte[] message) {
    try {
      return MessageDigest.getInstance(algorithm).digest(message);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java platform has " + algorithm, e);
    }
  }
}
