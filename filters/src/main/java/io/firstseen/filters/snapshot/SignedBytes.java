package io.firstseen.filters.snapshot;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;

/**
 * The bytes that a signature covers: the published manifest without its last field {@code
 * signature}. They include fields that this version does not know, and a reader can check them
 * without writing the JSON again.
 */
final class SignedBytes {

  private SignedBytes() {}

  /**
   * Returns the bytes that a manifest's signature covers. Refuses a manifest that does not end with
   * it.
   */
  static byte[] of(byte[] json, ManifestSignature signature) throws MalformedSnapshotException {
    byte[] end = end(signature);
    int length = json.length - end.length;
    if (length < 0 || !Arrays.equals(json, length, json.length, end, 0, end.length)) {
      throw new MalformedSnapshotException(
          "manifest: the field signature must be the last, without white space");
    }
    byte[] signed = Arrays.copyOf(json, length + 1);
    signed[length] = '}';
    return signed;
  }

  /** Adds a signature to an unsigned manifest. */
  static byte[] join(byte[] unsigned, ManifestSignature signature) {
    byte[] end = end(signature);
    byte[] json = Arrays.copyOf(unsigned, unsigned.length - 1 + end.length);
    System.arraycopy(end, 0, json, unsigned.length - 1, end.length);
    return json;
  }

  private static byte[] end(ManifestSignature signature) {
    return ",\"signature\":{\"key\":\"%s\",\"value\":\"%s\"}}"
        .formatted(signature.key(), signature.value())
        .getBytes(US_ASCII);
  }
}
