package io.firstseen.server.http;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.fixtures.SelfSigned;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** TLS and tokens, over sockets. */
@Timeout(60)
class AccessTest {
  private static final Duration LONG = Duration.ofSeconds(15);
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final int LARGE_BYTES = 4 << 20;
  private static final String TOKEN = "abcDEF0123456789._~+/-==";
  private static final String OTHER = "another-token-of-the-service";

  @TempDir private static Path directory;
  private static SelfSigned keys;
  private static SelfSigned otherKeys;

  private HttpService service;

  @BeforeAll
  static void makeKeys() throws Exception {
    keys = SelfSigned.make(Files.createDirectory(directory.resolve("one")), "EC");
    otherKeys = SelfSigned.make(Files.createDirectory(directory.resolve("other")), "RSA");
  }

  @AfterEach
  void stop() {
    if (service != null) {
      service.close();
    }
  }

  private InetSocketAddress start(HttpLimits limits, BearerTokens tokens, Tls tls)
      throws IOException {
    service =
        new HttpService(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            limits,
            new Access(AllowedHosts.any(), tokens, tls),
            LONG,
            new RequestObserver() {},
            List.of(
                Route.get("echo", "/echo", request -> text(request.query("q").text("q"))),
                Route.post("upload", "/upload", request -> text(request.body().length + "")),
                Route.get(
                    "large",
                    "/large",
                    request -> Reply.of(200, "x/y", ByteBuffer.allocate(LARGE_BYTES))),
                Route.get("page", "/", request -> text("page")).open(),
                Route.get("health", "/health", request -> text("alive")).forHealth()));
    return service.address();
  }

  private static Reply text(String text) {
    return Reply.of(200, "text/plain", String.valueOf(text).getBytes(US_ASCII));
  }

  private static Tls tls() throws IOException {
    return Tls.fromFiles(keys.certificate(), keys.key());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          Authorization: Bearer abcDEF0123456789._~+/-==           | 200 |
          authorization: bearer   another-token-of-the-service     | 200 |
                                                                   | 401 | this needs the header
          Authorization: Bearer abcDEF0123456789._~+/-=            | 401 | the token is not valid
          Authorization: Bearer                                    | 401 | this needs the header
          Authorization: Basic YTpi                                | 401 | this needs the header
          Authorization: abcDEF0123456789._~+/-==                  | 401 | this needs the header
          X-Token: abcDEF0123456789._~+/-==                        | 401 | this needs the header
          Authorization: Bearer abcDEF0123456789._~+/-== again     | 401 | this needs the header
          """)
  void aRequestNeedsOneOfTheTokens(String header, int status, String sentence) throws Exception {
    InetSocketAddress address =
        start(HttpLimits.DEFAULT, BearerTokens.parse(TOKEN + "\n\n" + OTHER + "\n"), null);
    String line = header == null ? "" : header + "\r\n";
    for (String target : List.of("/echo?q=1", "/nothing", "/large")) {
      try (RawClient client = new RawClient(address)) {
        client.send("HEAD " + target + " HTTP/1.1\r\nHost: x\r\n" + line + "\r\n");
        RawClient.Answer answer = client.answerToHead();
        assertThat(answer.status())
            .as(target)
            .isEqualTo(status == 200 && target.equals("/nothing") ? 404 : status);
        boolean isWrong = sentence != null && sentence.startsWith("the token");
        assertThat(answer.header("www-authenticate"))
            .isEqualTo(
                status == 200
                    ? null
                    : "Bearer realm=\"firstseen\"" + (isWrong ? ", error=\"invalid_token\"" : ""));
      }
    }
    try (RawClient client = new RawClient(address)) {
      RawClient.Answer answer =
          client.send("GET /echo?q=1 HTTP/1.1\r\nHost: x\r\n" + line + "\r\n").answer();
      assertThat(answer.body()).contains(status == 200 ? "1" : "{\"error\":\"" + sentence);
      assertThat(answer.head() + answer.body()).doesNotContain(TOKEN).doesNotContain(OTHER);
    }
  }

  @Test
  void oneOfTwoAuthorizationsIsNotChosen() throws Exception {
    try (RawClient client =
        new RawClient(start(HttpLimits.DEFAULT, BearerTokens.parse(TOKEN), null))) {
      String right = "Authorization: Bearer " + TOKEN + "\r\n";
      client.send("GET /echo?q=1 HTTP/1.1\r\nHost: x\r\n" + right + right + "\r\n");
      assertThat(client.answer().status()).isEqualTo(401);
    }
  }

  @Test
  void healthAndThePageNeedNoToken() throws Exception {
    InetSocketAddress address = start(HttpLimits.DEFAULT, BearerTokens.parse(TOKEN), null);
    try (RawClient client = new RawClient(address)) {
      assertThat(client.get("/health").answer().body()).isEqualTo("alive");
      assertThat(client.get("/?a=b").answer().body()).isEqualTo("page");
      // No other spelling of a path leads around the token.
      assertThat(client.get("/health/../echo?q=1").answer().status()).isEqualTo(401);
    }
  }

  /** The limit applies to all peers, but its effect does not. */
  @Test
  void aBodyWithoutATokenIsNotRead() throws Exception {
    InetSocketAddress address = start(HttpLimits.DEFAULT, BearerTokens.parse(TOKEN), null);
    try (RawClient client = new RawClient(address)) {
      client.send("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n");
      assertThat(client.answer().status()).isEqualTo(401);
      assertThat(service.bodies.taken()).isZero();
      assertThat(client.read()).isEqualTo(-1);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ''                  | at least one token; one per line
          short               | 16 to 1024 characters; line 1 has 5
          sixteen chars ok?!x | A-Z a-z 0-9 . _ ~ + / - with =; line 1
          abcdefgh=ijklmnop   | A-Z a-z 0-9 . _ ~ + / - with =; line 1
          """)
  void tokensThatCannotBeAreRefusedWithoutShowingThem(String text, String facts) {
    assertThatThrownBy(() -> BearerTokens.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(facts.split("; "));
  }

  @Test
  void noTextOfTheTokensHasOne() {
    assertThat(BearerTokens.parse(TOKEN)).hasToString("1 bearer tokens");
    assertThat(new Access(AllowedHosts.any(), BearerTokens.parse(TOKEN), null).toString())
        .doesNotContain(TOKEN);
  }

  @Test
  void tlsCarriesShortAndLongRepliesOnOneConnection() throws Exception {
    assertTlsCarriesAll(keys);
  }

  @Test
  void tlsWorksWithAKeyOfRsa() throws Exception {
    InetSocketAddress address =
        start(
            HttpLimits.DEFAULT,
            BearerTokens.none(),
            Tls.fromFiles(otherKeys.certificate(), otherKeys.key()));
    HttpClient client = HttpClient.newBuilder().sslContext(otherKeys.trustingClients()).build();
    URI echo = URI.create("https://localhost:" + address.getPort() + "/echo?q=rsa");
    assertThat(client.send(HttpRequest.newBuilder(echo).build(), BodyHandlers.ofString()).body())
        .isEqualTo("rsa");
  }

  @Tag("slow")
  @Test
  void thatCarriesShortAndLongRepliesToo() throws Exception {
    assertTlsCarriesAll(otherKeys);
  }

  private void assertTlsCarriesAll(SelfSigned own) throws Exception {
    InetSocketAddress address =
        start(
            HttpLimits.DEFAULT.withMaxBodyBytes(1 << 20),
            BearerTokens.none(),
            Tls.fromFiles(own.certificate(), own.key()));
    HttpClient client = HttpClient.newBuilder().sslContext(own.trustingClients()).build();
    URI url = URI.create("https://localhost:" + address.getPort() + "/");
    HttpRequest large = HttpRequest.newBuilder(url.resolve("/large")).build();
    assertThat(client.send(large, BodyHandlers.ofByteArray()).body()).hasSize(LARGE_BYTES);
    HttpRequest post =
        HttpRequest.newBuilder(url.resolve("/upload"))
            .POST(HttpRequest.BodyPublishers.ofByteArray(new byte[1 << 20]))
            .build();
    assertThat(client.send(post, BodyHandlers.ofString()).body()).isEqualTo("" + (1 << 20));
    HttpRequest get = HttpRequest.newBuilder(url.resolve("/echo?q=short")).build();
    assertThat(client.send(get, BodyHandlers.ofString()).body()).isEqualTo("short");
    assertThat(service.connections()).isEqualTo(1);
  }

  private SSLSocket connect(InetSocketAddress address) throws Exception {
    SSLSocket socket =
        (SSLSocket)
            keys.trustingClients()
                .getSocketFactory()
                .createSocket(address.getAddress(), address.getPort());
    socket.setSoTimeout(20_000);
    return socket;
  }

  @Test
  void theLastReplyArrivesWholeAndEndsProperly() throws Exception {
    InetSocketAddress address =
        start(HttpLimits.DEFAULT.withMaxBodyBytes(10), BearerTokens.none(), tls());
    try (SSLSocket socket = connect(address)) {
      // The rest of the body is never read.
      String request = "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n";
      socket.getOutputStream().write((request + "x".repeat(50_000)).getBytes(US_ASCII));
      InputStream in = socket.getInputStream();
      // A cut without close_notify would be an exception here.
      String answer = new String(in.readAllBytes(), US_ASCII);
      assertThat(answer)
          .startsWith("HTTP/1.1 413 ")
          .endsWith("{\"error\":\"the body must have at most 10 bytes\"}\n");
    }
  }

  @Test
  void aPeerThatDoesNotEndItsHandshakeIsCutOff() throws Exception {
    InetSocketAddress address =
        start(HttpLimits.DEFAULT.withTimeouts(SHORT, LONG, LONG), BearerTokens.none(), tls());
    try (RawClient slow = new RawClient(address);
        RawClient inTheClear = new RawClient(address)) {
      // The head of a record that promises more.
      slow.send("\u0016\u0003\u0001\u0001\u0000");
      slow.awaitEnd();
      inTheClear.get("/echo?q=1");
      inTheClear.awaitEnd();
    }
  }

  @Test
  void filesThatAreNoneAreOneSentence() throws Exception {
    Path none = Files.writeString(directory.resolve("none.pem"), "nothing");
    assertThatThrownBy(() -> Tls.fromFiles(none, keys.key()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(none.toString(), "-----BEGIN CERTIFICATE-----");
    for (Path wrong : List.of(none, otherKeys.key())) {
      assertThatThrownBy(() -> Tls.fromFiles(keys.certificate(), wrong))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContainingAll(wrong.toString(), "EC", "-----BEGIN PRIVATE KEY-----", "pkey");
    }
    SelfSigned third = SelfSigned.make(Files.createDirectory(directory.resolve("third")), "EC");
    assertThatThrownBy(() -> Tls.fromFiles(keys.certificate(), third.key()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(third.key().toString(), "certificate in " + keys.certificate());
  }
}
