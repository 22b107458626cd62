package io.firstseen.filters.snapshot;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;

/**
 * The public key of a {@link SigningKey}, which verifies its signatures. Its file is X.509's
 * SubjectPublicKeyInfo in PEM, as {@code openssl pkey -pubout} writes it. Immutable and safe for
 * use by many threads.
 */
public final class TrustedKey {
  private static final String LABEL = "PUBLIC KEY";
  private static final int ID_CHARS = 16;

  private final PublicKey key;
  private final String id;

  TrustedKey(PublicKey key) {
    this.key = key;
    this.id = Sha256.hex(key.getEncoded()).substring(0, ID_CHARS);
  }

  /**
   * Parses a key in PEM.
   *
   * @throws IllegalArgumentException if the text contains no public Ed25519 key
   */
  public static TrustedKey parse(String pem) {
    try {
      return new TrustedKey(
          KeyFactory.getInstance(SigningKey.ALGORITHM)
              .generatePublic(new X509EncodedKeySpec(Pem.read(LABEL, pem))));
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException("the key must be a public Ed25519 key in X.509 form", e);
    }
  }

  /**
   * Reads a key from a PEM file.
   *
   * @throws IllegalArgumentException if the file contains no public Ed25519 key
   * @throws IOException if the file cannot be read
   */
  public static TrustedKey read(Path file) throws IOException {
    return parse(Files.readString(file, ISO_8859_1));
  }

  /** Returns the first 8 bytes of the SHA-256 of the key's DER form, as hexadecimal digits. */
  public String id() {
    return id;
  }

  /** Returns the PEM text. */
  public String toPem() {
    return Pem.write(LABEL, key.getEncoded());
  }

  boolean verifies(byte[] message, byte[] signature) {
    try {
      Signature verifier = Signature.getInstance(SigningKey.ALGORITHM);
      verifier.initVerify(key);
      verifier.update(message);
      return verifier.verify(signature);
    } catch (GeneralSecurityException e) {
      // The bytes are not a signature.
      return false;
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TrustedKey that && key.equals(that.key);
  }

  @Override
  public int hashCode() {
    return key.hashCode();
  }

  @Override
  public String toString() {
    return "public key " + id;
  }
}
