package io.firstseen.filters.snapshot;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.util.Arrays;

/**
 * What a signature in a manifest is over: the bytes of the manifest without the field {@code
 * signature}, which is the last. So what is signed is what was published, fields that this version
 * does not know included, and nothing has to be written anew to be checked.
 */
final class SignedBytes {

  private SignedBytes() {}

  /** The bytes that a manifest's signature is over, if it has one and ends in it. */
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

  /** A manifest that has no signature with one. */
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
