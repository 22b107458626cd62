package io.firstseen.filters.snapshot;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.firstseen.filters.key.SecretFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.interfaces.EdECPrivateKey;
import java.security.spec.NamedParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;

/**
 * A private key that signs manifests with Ed25519 (RFC 8032), as the JDK implements it. Its file is
 * PKCS#8 in PEM, as {@code openssl genpkey -algorithm ed25519} writes it. Immutable and safe for
 * use by many threads. No message contains a part of the key.
 */
public final class SigningKey {
  static final String ALGORITHM = "Ed25519";

  private static final String LABEL = "PRIVATE KEY";
  private static final int SEED_BYTES = 32;

  private final PrivateKey key;
  private final TrustedKey publicKey;

  private SigningKey(KeyPair pair) {
    this.key = pair.getPrivate();
    this.publicKey = new TrustedKey(pair.getPublic());
  }

  /** Generates a key from the operating system's randomness. */
  public static SigningKey generate() {
    try {
      return new SigningKey(KeyPairGenerator.getInstance(ALGORITHM).generateKeyPair());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK has no Ed25519", e);
    }
  }

  /**
   * Parses a key in PEM.
   *
   * @throws IllegalArgumentException if the text contains no private Ed25519 key
   */
  public static SigningKey parse(String pem) {
    byte[] der = Pem.read(LABEL, pem);
    try {
      PrivateKey key =
          KeyFactory.getInstance(ALGORITHM).generatePrivate(new PKCS8EncodedKeySpec(der));
      byte[] seed =
          ((EdECPrivateKey) key)
              .getBytes()
              .orElseThrow(() -> new IllegalArgumentException("the key must be in the file"));
      return new SigningKey(pairOf(seed));
    } catch (GeneralSecurityException e) {
      // The cause is omitted, because its message may contain parts of the key.
      throw new IllegalArgumentException("the key must be a private Ed25519 key in PKCS#8");
    } finally {
      Arrays.fill(der, (byte) 0);
    }
  }

  /**
   * Reads a key from a PEM file. Logs a warning if users other than its owner may read or change
   * the file.
   *
   * @throws IllegalArgumentException if the file contains no private Ed25519 key
   * @throws IOException if the file cannot be read
   */
  public static SigningKey read(Path file) throws IOException {
    SecretFiles.warnIfAccessible(file);
    return parse(Files.readString(file, ISO_8859_1));
  }

  /**
   * Derives the key pair of a seed. The JDK derives a public key only when it generates a pair, and
   * the generator reads only the seed from its source of randomness.
   */
  private static KeyPair pairOf(byte[] seed) throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance(ALGORITHM);
    generator.initialize(NamedParameterSpec.ED25519, new Seed(seed));
    KeyPair pair = generator.generateKeyPair();
    byte[] made = ((EdECPrivateKey) pair.getPrivate()).getBytes().orElseThrow();
    if (!Arrays.equals(made, seed)) {
      throw new IllegalStateException("this JDK makes no Ed25519 key of a given seed");
    }
    return pair;
  }

  private static final class Seed extends SecureRandom {
    private static final long serialVersionUID = 1;

    private final byte[] seed;

    Seed(byte[] seed) {
      this.seed = seed.clone();
    }

    @Override
    public void nextBytes(byte[] bytes) {
      if (bytes.length != SEED_BYTES) {
        throw new IllegalStateException("this JDK makes no Ed25519 key of a given seed");
      }
      System.arraycopy(seed, 0, bytes, 0, SEED_BYTES);
    }
  }

  /** Returns the public key, which verifies signatures of this key. */
  public TrustedKey publicKey() {
    return publicKey;
  }

  /** Returns the PEM text. */
  public String toPem() {
    return Pem.write(LABEL, key.getEncoded());
  }

  /** Signs a manifest. Replaces an existing signature. */
  public Manifest sign(Manifest manifest) {
    return manifest.withSignature(signature(ManifestFormat.signedBytes(manifest, true)));
  }

  private ManifestSignature signature(byte[] signed) {
    try {
      Signature signer = Signature.getInstance(ALGORITHM);
      signer.initSign(key);
      signer.update(signed);
      return ManifestSignature.of(publicKey.id(), signer.sign());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("cannot sign with this JDK", e);
    }
  }

  @Override
  public String toString() {
    return "signing key " + publicKey.id();
  }
}
