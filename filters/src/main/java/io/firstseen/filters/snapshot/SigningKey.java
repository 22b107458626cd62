package io.firstseen.filters.snapshot;

import static java.nio.charset.StandardCharsets.US_ASCII;

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
 * A private key that signs manifests: Ed25519 (RFC 8032), by the JDK. Its file is PEM of PKCS#8 as
 * {@code openssl genpkey -algorithm ed25519} makes it. Immutable and safe for use by many threads;
 * says nothing of the key in any message.
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

  /** A new key, from the operating system's randomness. */
  public static SigningKey generate() {
    try {
      return new SigningKey(KeyPairGenerator.getInstance(ALGORITHM).generateKeyPair());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK has no Ed25519", e);
    }
  }

  /**
   * The key of a PEM text.
   *
   * @throws IllegalArgumentException if there is no private Ed25519 key in it
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
      // Not the cause: its message may hold parts of the key.
      throw new IllegalArgumentException("the key must be a private Ed25519 key in PKCS#8");
    } finally {
      Arrays.fill(der, (byte) 0);
    }
  }

  /**
   * The key of a PEM file.
   *
   * @throws IllegalArgumentException if there is no private Ed25519 key in it
   * @throws IOException if it cannot be read
   */
  public static SigningKey read(Path file) throws IOException {
    return parse(Files.readString(file, US_ASCII));
  }

  /**
   * Private and public key of a seed. The JDK derives public keys only when it makes pairs, which
   * takes nothing from the randomness but the seed.
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

  /** Randomness that is a seed. */
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

  /** The key that checks what this one signs. */
  public TrustedKey publicKey() {
    return publicKey;
  }

  /** The PEM text. */
  public String toPem() {
    return Pem.write(LABEL, key.getEncoded());
  }

  /** The manifest with a signature in place of the one it has. */
  public Manifest sign(Manifest manifest) {
    Manifest unsigned = manifest.withSignature(null);
    return unsigned.withSignature(signature(unsigned.toJson()));
  }

  /**
   * The JSON form of a manifest with a signature in place of the one it has; all other fields stay
   * as they are, unknown ones too.
   *
   * @throws SnapshotException if this is no manifest
   */
  public byte[] sign(byte[] json) throws SnapshotException {
    ManifestSignature old = Manifest.fromJson(json).signature();
    byte[] unsigned = old == null ? json : SignedBytes.of(json, old);
    if (unsigned[unsigned.length - 1] != '}') {
      throw new MalformedSnapshotException("the manifest must end with its last brace");
    }
    return SignedBytes.join(unsigned, signature(unsigned));
  }

  private ManifestSignature signature(byte[] unsigned) {
    try {
      Signature signer = Signature.getInstance(ALGORITHM);
      signer.initSign(key);
      signer.update(unsigned);
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
