package io.firstseen.server.http;

import io.firstseen.filters.key.SecretFiles;
import io.netty.channel.socket.SocketChannel;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.util.Base64;
import java.util.Collection;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A certificate and its private key, for TLS 1.2 and 1.3. */
public final class Tls {
  private static final Pattern KEY =
      Pattern.compile("-----BEGIN PRIVATE KEY-----([^-]+)-----END PRIVATE KEY-----");

  private final SslContext context;

  private Tls(SslContext context) {
    this.context = context;
  }

  /**
   * Reads a certificate and its key. Logs a warning if users other than its owner may read or
   * change the key.
   *
   * @param certificate a PEM file with the certificate, followed by its issuers' certificates
   * @param key a PEM file with the private key (RSA, EC or Ed25519), in PKCS#8 and not encrypted
   * @throws IOException if a file cannot be read
   * @throws IllegalArgumentException if a file has a different format, or the key does not belong
   *     to the certificate
   */
  public static Tls fromFiles(Path certificate, Path key) throws IOException {
    X509Certificate[] chain = chain(certificate);
    SecretFiles.warnIfAccessible(key);
    PublicKey publicKey = chain[0].getPublicKey();
    PrivateKey privateKey = privateKey(key, publicKey.getAlgorithm());
    try {
      if (!belong(privateKey, publicKey)) {
        throw new IllegalArgumentException(
            "%s must have the private key of the certificate in %s, it is another one"
                .formatted(key, certificate));
      }
      return new Tls(
          SslContextBuilder.forServer(privateKey, chain).sslProvider(SslProvider.JDK).build());
    } catch (GeneralSecurityException e) {
      throw new IllegalArgumentException(
          "%s and %s cannot be used: %s".formatted(certificate, key, e.getMessage()), e);
    }
  }

  private static X509Certificate[] chain(Path file) throws IOException {
    byte[] bytes = Files.readAllBytes(file);
    try {
      Collection<? extends Certificate> all =
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(bytes));
      if (!all.isEmpty()) {
        return all.toArray(X509Certificate[]::new);
      }
    } catch (CertificateException e) {
      // Said below.
    }
    throw new IllegalArgumentException(
        file + " must have certificates in PEM, '-----BEGIN CERTIFICATE-----'");
  }

  private static PrivateKey privateKey(Path file, String algorithm) throws IOException {
    Matcher matcher = KEY.matcher(Files.readString(file, StandardCharsets.ISO_8859_1));
    try {
      if (matcher.find()) {
        byte[] encoded = Base64.getMimeDecoder().decode(matcher.group(1));
        return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(encoded));
      }
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      // Reported below without the cause, which may reveal the file's content.
    }
    throw new IllegalArgumentException(
        ("%s must have a private key for %s in PEM, not encrypted, '-----BEGIN PRIVATE KEY-----'"
                + " (openssl pkey makes one of other forms)")
            .formatted(file, algorithm));
  }

  private static boolean belong(PrivateKey privateKey, PublicKey publicKey)
      throws GeneralSecurityException {
    String algorithm =
        switch (publicKey.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> publicKey.getAlgorithm();
        };
    Signature signature = Signature.getInstance(algorithm);
    signature.initSign(privateKey);
    signature.update((byte) 1);
    byte[] signed = signature.sign();
    signature.initVerify(publicKey);
    signature.update((byte) 1);
    return signature.verify(signed);
  }

  SslHandler handler(SocketChannel channel, Duration handshake) {
    SslHandler handler = context.newHandler(channel.alloc());
    handler.setHandshakeTimeoutMillis(handshake.toMillis());
    return handler;
  }
}
