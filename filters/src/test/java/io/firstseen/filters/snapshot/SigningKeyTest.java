package io.firstseen.filters.snapshot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SigningKeyTest {

  /** Of RFC 8032, section 7.1, test 1; in the form that openssl writes. */
  private static final String PRIVATE_PEM =
      """
      -----BEGIN PRIVATE KEY-----
      MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g
      -----END PRIVATE KEY-----
      """;

  private static final String PUBLIC_PEM =
      """
      -----BEGIN PUBLIC KEY-----
      MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=
      -----END PUBLIC KEY-----
      """;

  private final SigningKey key = SigningKey.parse(PRIVATE_PEM);
  private final TrustedKey trusted = TrustedKey.parse(PUBLIC_PEM);
  private final Manifest manifest =
      Manifest.of(
              "spam",
              7,
              0,
              10,
              SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(2), 0.001),
              5,
              "ab".repeat(32),
              new BlobReference("cd".repeat(32), 300),
              400)
          .withBlobs(URI.create("s3://bucket/blobs"));

  @Test
  void thePublicKeyFollowsFromThePrivateOneAsTheStandardSays() {
    assertThat(key.publicKey()).isEqualTo(trusted);
    assertThat(key.toPem()).isEqualTo(PRIVATE_PEM);
    assertThat(key.publicKey().toPem()).isEqualTo(PUBLIC_PEM);
    // openssl pkey -pubin -in public.pem -outform DER | sha256sum | cut -c 1-16
    assertThat(trusted.id()).isEqualTo("06e3fd8fda29bb60");
    assertThat(key).hasToString("signing key " + trusted.id());
  }

  @Test
  void aNewKeyIsReadBack() {
    SigningKey made = SigningKey.generate();
    assertThat(SigningKey.parse(made.toPem()).publicKey()).isEqualTo(made.publicKey());
    assertThat(TrustedKey.parse(made.publicKey().toPem())).isEqualTo(made.publicKey());
    assertThat(made.publicKey()).isNotEqualTo(SigningKey.generate().publicKey());
  }

  @Test
  void filesMayHaveOtherTextBesideTheKey(@TempDir Path directory) throws Exception {
    Path file = directory.resolve("key.pem");
    Files.writeString(file, "friendlyName: Schlüssel\n" + PRIVATE_PEM);
    assertThat(SigningKey.read(file).publicKey()).isEqualTo(trusted);
    Files.writeString(file, "friendlyName: Schlüssel\n" + PUBLIC_PEM);
    assertThat(TrustedKey.read(file)).isEqualTo(trusted);
  }

  @Test
  void whatItSignsIsAcceptedUnderItsKeyAlone() throws Exception {
    Manifest signed = key.sign(manifest);
    TrustedKey other = SigningKey.generate().publicKey();
    assertThat(ManifestCheck.requireSigned(signed.toBytes(), List.of(other, trusted)))
        .isEqualTo(signed);
    assertThatThrownBy(() -> ManifestCheck.requireSigned(signed.toBytes(), List.of(other)))
        .isInstanceOf(UntrustedManifestException.class)
        .hasMessageContainingAll(trusted.id(), "not trusted");
    assertThatThrownBy(() -> ManifestCheck.requireSigned(manifest.toBytes(), List.of(trusted)))
        .isInstanceOf(UntrustedManifestException.class)
        .hasMessageContaining("no signature");
  }

  @Test
  void signingAgainReplacesTheSignature() {
    SigningKey other = SigningKey.generate();
    Manifest twice = other.sign(key.sign(manifest));
    assertThat(twice).isEqualTo(other.sign(manifest));
    assertThat(key.sign(twice)).isEqualTo(key.sign(manifest));
  }

  /** The last 72 bytes are the id of the key and the signature of all bytes before them. */
  @Test
  void theJdkVerifiesTheSignatureOverTheBytesBeforeIt() throws Exception {
    byte[] bytes = key.sign(manifest).toBytes();
    byte[] der = Base64.getMimeDecoder().decode(PUBLIC_PEM.replaceAll("-----[A-Z ]+-----", ""));
    Signature verifier = Signature.getInstance("Ed25519");
    verifier.initVerify(
        KeyFactory.getInstance("Ed25519").generatePublic(new X509EncodedKeySpec(der)));
    verifier.update(bytes, 0, bytes.length - 72);
    assertThat(verifier.verify(bytes, bytes.length - 64, 64)).isTrue();
    assertThat(HexFormat.of().formatHex(bytes, bytes.length - 72, bytes.length - 64))
        .isEqualTo(trusted.id());
  }

  /** A signature covers the mark that the manifest is signed, so it cannot be removed. */
  @Test
  void anotherManifestUnderTheSameSignatureIsRefused() {
    ManifestSignature signature = key.sign(manifest).signature();
    for (Manifest other :
        List.of(
            manifest.withTimes(1, null),
            manifest.withBlobs(URI.create("s3://elsewhere/blobs")),
            manifest.withBlobs(null))) {
      byte[] forged = other.withSignature(signature).toBytes();
      assertThatThrownBy(() -> ManifestCheck.requireSigned(forged, List.of(trusted)))
          .isInstanceOf(UntrustedManifestException.class)
          .hasMessageContainingAll("not what", trusted.id());
    }
  }

  @Test
  void aManifestOfAnotherSetIsRefused() throws Exception {
    byte[] signed = key.sign(manifest).toBytes();
    assertThat(ManifestCheck.read(signed, "spam", List.of(trusted)).count()).isEqualTo(5);
    assertThat(ManifestCheck.read(signed, "spam", List.of()).count()).isEqualTo(5);
    assertThatThrownBy(() -> ManifestCheck.read(signed, "ham", List.of(trusted)))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessageContaining("set 'spam'");
    assertThatThrownBy(() -> ManifestCheck.read(manifest.toBytes(), "spam", List.of(trusted)))
        .isInstanceOf(UntrustedManifestException.class);
  }

  @Test
  void noBitCanBeChanged() throws Exception {
    byte[] signed = key.sign(manifest).toBytes();
    // The quick tier changes two or three bits of each byte.
    int step = Integer.getInteger("firstseen.scale", 1) == 1 ? 3 : 1;
    for (int bit = 0; bit < 8 * signed.length; bit += step) {
      byte[] damaged = signed.clone();
      damaged[bit / 8] ^= (byte) (1 << bit % 8);
      assertThatThrownBy(() -> ManifestCheck.requireSigned(damaged, List.of(trusted)))
          .as("bit %d", bit)
          .isInstanceOf(SnapshotException.class);
    }
    for (int length = 0; length < signed.length; length++) {
      byte[] cut = Arrays.copyOf(signed, length);
      assertThatThrownBy(() -> ManifestCheck.requireSigned(cut, List.of(trusted)))
          .isInstanceOf(SnapshotException.class);
    }
  }

  @Test
  void whatFollowsTheSignatureIsRefused() {
    byte[] signed = key.sign(manifest).toBytes();
    byte[] longer = Arrays.copyOf(signed, signed.length + 1);
    assertThatThrownBy(() -> ManifestCheck.requireSigned(longer, List.of(trusted)))
        .isInstanceOf(MalformedSnapshotException.class);
  }

  @Test
  void whatIsNoKeyIsRefusedWithoutSayingWhatItIs() {
    assertThatThrownBy(() -> SigningKey.parse("secret"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----");
    assertThatThrownBy(() -> SigningKey.parse(PUBLIC_PEM)).hasMessageContaining("PRIVATE KEY");
    assertThatThrownBy(() -> TrustedKey.parse(PRIVATE_PEM)).hasMessageContaining("PUBLIC KEY");
    assertThatThrownBy(() -> SigningKey.parse(PRIVATE_PEM.replace("MC4CAQ", "AAAAAA")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasNoCause()
        .hasMessageContainingAll("private Ed25519 key", "PKCS#8");
    assertThatThrownBy(() -> TrustedKey.parse(PUBLIC_PEM.replace("MCow", "AAAA")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("public Ed25519 key", "X.509");
    byte[] rsa = HexFormat.of().parseHex("300d06092a864886f70d0101010500");
    assertThatThrownBy(() -> SigningKey.parse(Pem.write("PRIVATE KEY", rsa)))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
