package io.firstseen.filters.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import java.net.URI;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

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
              List.of(ManifestShard.empty(0), ManifestShard.empty(1)))
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
  void whatItSignsIsAcceptedUnderItsKeyAlone() throws Exception {
    Manifest signed = key.sign(manifest);
    TrustedKey other = SigningKey.generate().publicKey();
    assertThat(ManifestCheck.requireSigned(signed.toJson(), List.of(other, trusted)))
        .isEqualTo(signed);
    assertThat(key.sign(manifest.toJson())).isEqualTo(signed.toJson());
    assertThatThrownBy(() -> ManifestCheck.requireSigned(signed.toJson(), List.of(other)))
        .isInstanceOf(UntrustedManifestException.class)
        .hasMessage(
            "the manifest is signed by the key %s, which is not trusted".formatted(trusted.id()));
    assertThatThrownBy(() -> ManifestCheck.requireSigned(manifest.toJson(), List.of(trusted)))
        .isInstanceOf(UntrustedManifestException.class)
        .hasMessage("the manifest has no signature");
  }

  @Test
  void signingAgainReplacesTheSignature() throws Exception {
    SigningKey other = SigningKey.generate();
    byte[] twice = other.sign(key.sign(manifest.toJson()));
    assertThat(twice).isEqualTo(other.sign(manifest).toJson());
    assertThat(key.sign(twice)).isEqualTo(key.sign(manifest).toJson());
  }

  @Test
  void fieldsOfANewerWriterAreSignedToo() throws Exception {
    byte[] newer =
        utf8(manifest.toJson()).replace("\"count\"", "\"new\":1,\"count\"").getBytes(UTF_8);
    byte[] signed = key.sign(newer);
    assertThatCode(() -> ManifestCheck.requireSigned(signed, List.of(trusted)))
        .doesNotThrowAnyException();
    byte[] changed = utf8(signed).replace("\"new\":1", "\"new\":2").getBytes(UTF_8);
    assertThatThrownBy(() -> ManifestCheck.requireSigned(changed, List.of(trusted)))
        .isInstanceOf(UntrustedManifestException.class)
        .hasMessage("the manifest is not what the key %s signed".formatted(trusted.id()));
  }

  @Test
  void noBitCanBeChanged() throws Exception {
    byte[] signed = key.sign(manifest).toJson();
    for (int bit = 0; bit < 8 * signed.length; bit++) {
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
  void aSignatureThatIsNotTheEndIsRefused() throws Exception {
    String signed = utf8(key.sign(manifest).toJson());
    assertThatThrownBy(
            () -> ManifestCheck.requireSigned((signed + "\n").getBytes(UTF_8), List.of(trusted)))
        .isInstanceOf(MalformedSnapshotException.class)
        .hasMessage("manifest: the field signature must be the last, without white space");
  }

  @Test
  void whatIsNoKeyIsRefusedWithoutSayingWhatItIs() {
    assertThatThrownBy(() -> SigningKey.parse("secret"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "a key must stand between '-----BEGIN PRIVATE KEY-----' and '-----END PRIVATE KEY-----'");
    assertThatThrownBy(() -> SigningKey.parse(PUBLIC_PEM)).hasMessageContaining("PRIVATE KEY");
    assertThatThrownBy(() -> TrustedKey.parse(PRIVATE_PEM)).hasMessageContaining("PUBLIC KEY");
    assertThatThrownBy(() -> SigningKey.parse(PRIVATE_PEM.replace("MC4CAQ", "AAAAAA")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasNoCause()
        .hasMessage("the key must be a private Ed25519 key in PKCS#8");
    assertThatThrownBy(() -> TrustedKey.parse(PUBLIC_PEM.replace("MCow", "AAAA")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the key must be a public Ed25519 key in X.509 form");
    byte[] rsa = HexFormat.of().parseHex("300d06092a864886f70d0101010500");
    assertThatThrownBy(() -> SigningKey.parse(Pem.write("PRIVATE KEY", rsa)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private static String utf8(byte[] bytes) {
    return new String(bytes, UTF_8);
  }
}
