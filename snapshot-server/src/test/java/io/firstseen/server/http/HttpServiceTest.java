package io.firstseen.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The server against many kinds of peers. */
@Timeout(60)
class HttpServiceTest {
  private static final Duration LONG = Duration.ofSeconds(15);
  private static final Duration SHORT = Duration.ofMillis(300);
  private static final int LARGE_BYTES = 32 << 20;

  private final CountDownLatch entered = new CountDownLatch(1);
  private final CountDownLatch release = new CountDownLatch(1);
  private final AtomicInteger refused = new AtomicInteger();
  private final AtomicInteger largeReplies = new AtomicInteger();
  private final AtomicInteger refusedConnections = new AtomicInteger();
  private final RequestObserver observer =
      new RequestObserver() {
        @Override
        public void onRequest(Answered request) {
          if (request.status() == 503) {
            refused.incrementAndGet();
          }
        }

        @Override
        public void onConnectionRefused() {
          refusedConnections.incrementAndGet();
        }
      };
  private HttpService service;

  private InetSocketAddress start(HttpLimits limits) throws IOException {
    return start(limits, LONG);
  }

  private InetSocketAddress start(HttpLimits limits, Duration grace) throws IOException {
    return start(limits, Access.by(AllowedHosts.any()), grace);
  }

  private InetSocketAddress start(HttpLimits limits, Access access, Duration grace)
      throws IOException {
    service =
        new HttpService(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            limits,
            access,
            grace,
            observer,
            List.of(
                Route.get("echo", "/echo", request -> text(request.query("q").text("q"))),
                Route.post("upload", "/upload", request -> text(request.body().length + "")),
                Route.get(
                        "large",
                        "/large",
                        request -> {
                          largeReplies.incrementAndGet();
                          return Reply.of(200, "x/y", ByteBuffer.allocate(LARGE_BYTES));
                        })
                    .slow(),
                Route.get("health", "/health", request -> text("alive")).forHealth(),
                Route.get("fail", "/fail", HttpServiceTest::fail),
                Route.get("wait", "/wait", request -> waitForRelease()).slow()));
    return service.address();
  }

  private static Reply text(String text) {
    return Reply.of(200, "text/plain", String.valueOf(text).getBytes(StandardCharsets.UTF_8));
  }

  private static Reply fail(Request request) {
    throw new IllegalStateException("must not be told to peers");
  }

  private Reply waitForRelease() {
    entered.countDown();
    try {
      assertThat(release.await(1, TimeUnit.MINUTES)).isTrue();
    } catch (InterruptedException e) {
      return text("interrupted");
    }
    return text("released");
  }

  @AfterEach
  void stop() {
    release.countDown();
    if (service != null) {
      service.close();
    }
  }

  @Test
  void answersManyRequestsOnOneConnectionInOrder() throws Exception {
    StringBuilder requests = new StringBuilder();
    int count = 3_000;
    for (int i = 0; i < count; i++) {
      requests.append("GET /echo?q=" + i + " HTTP/1.1\r\nHost: x\r\n\r\n");
    }
    try (RawClient client = new RawClient(start(HttpLimits.DEFAULT))) {
      CompletableFuture<Void> sent =
          CompletableFuture.runAsync(
              () -> {
                try {
                  client.send(requests.toString());
                } catch (IOException e) {
                  throw new AssertionError(e);
                }
              });
      for (int i = 0; i < count; i++) {
        assertThat(client.answer().body()).isEqualTo(Integer.toString(i));
      }
      sent.get();
      assertThat(service.connections()).isEqualTo(1);
    }
  }

  @Test
  void aSlowRequestDelaysNoOtherConnection() throws Exception {
    InetSocketAddress address = start(HttpLimits.DEFAULT);
    try (RawClient slow = new RawClient(address);
        RawClient quick = new RawClient(address)) {
      slow.get("/wait").get("/echo?q=after");
      entered.await();
      assertThat(quick.get("/echo?q=now").answer().body()).isEqualTo("now");
      release.countDown();
      assertThat(slow.answer().body()).isEqualTo("released");
      assertThat(slow.answer().body()).isEqualTo("after");
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          GET /nothing HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n                          | 404 | there is nothing at /nothing | true
          POST /echo HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 0\\r\\n\\r\\n      | 405 | /echo allows GET, HEAD, got POST | true
          GET /echo?x=1 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n                         | 400 | parameters must be among q; got 'x' (a & within a value is written %26) | true
          GET /echo?q=%zz HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n                       | 400 | a % in the query must be followed by two hexadecimal digits | true
          GET /echo?q=%4 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n                        | 400 | a % in the query must be followed by two hexadecimal digits | true
          GET /echo?q=1&q=2 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n                     | 400 | the parameter 'q' must be given once | true
          GET /fail HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n                             | 500 | the server failed; see its log for the reason | true
          GET /echo HTTP/1.1\\r\\n\\r\\n                                          | 400 | a request in HTTP/1.1 must have one Host header | false
          GET /echo HTTP/1.1\\r\\nHost: x\\r\\nHost: y\\r\\n\\r\\n                | 400 | a request in HTTP/1.1 must have one Host header | false
          nonsense\\r\\n\\r\\n                                                    | 400 | this is not a request in HTTP/1.1 | false
          GET /echo HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: -5\\r\\n\\r\\n     | 400 | this is not a request in HTTP/1.1 | false
          POST /upload HTTP/1.1\\r\\nHost: x\\r\\nTransfer-Encoding: chunked\\r\\nContent-Length: 3\\r\\n\\r\\n0\\r\\n\\r\\n | 400 | this is not a request in HTTP/1.1 | false
          POST /upload HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 3\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\nabc | 400 | this is not a request in HTTP/1.1 | false
          POST /upload HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 3\\r\\nContent-Length: 4\\r\\n\\r\\nabcd | 400 | this is not a request in HTTP/1.1 | false
          POST /upload HTTP/1.1\\r\\nHost: x\\r\\nExpect: tea\\r\\nContent-Length: 1\\r\\n\\r\\n | 417 | expectations other than 100-continue are not met | false
          POST /upload HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: 1001\\r\\n\\r\\n | 413 | the body must have at most 1000 bytes | false
          """)
  void errorsAreOneSentenceInJson(String request, int status, String sentence, boolean goesOn)
      throws Exception {
    try (RawClient client = new RawClient(start(HttpLimits.DEFAULT.withMaxBodyBytes(1000)))) {
      client.send(request.replace("\\r", "\r").replace("\\n", "\n"));
      RawClient.Answer answer = client.answer();
      assertThat(answer.status()).isEqualTo(status);
      assertThat(answer.header("content-type")).isEqualTo("application/json");
      assertThat(answer.body()).isEqualTo("{\"error\":\"" + sentence + "\"}\n");
      if (goesOn) {
        assertThat(client.get("/echo?q=on").answer().body()).isEqualTo("on");
      } else {
        assertThat(answer.header("connection")).isEqualTo("close");
        assertThat(client.read()).isEqualTo(-1);
      }
    }
  }

  @Test
  void aMethodThatDoesNotFitNamesThoseThatDo() throws Exception {
    try (RawClient client = new RawClient(start(HttpLimits.DEFAULT))) {
      client.send("DELETE /upload HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.answer().header("allow")).isEqualTo("POST");
    }
  }

  @Test
  void lengthsHaveLimits() throws Exception {
    InetSocketAddress address = start(HttpLimits.DEFAULT.withMaxBodyBytes(1000));
    String almost = "x".repeat(15_000);
    String more = "x".repeat(17_000);
    try (RawClient client = new RawClient(address)) {
      assertThat(client.get("/echo?q=" + almost).answer().body()).isEqualTo(almost);
      RawClient.Answer tooLong = client.get("/echo?q=" + more).answer();
      assertThat(tooLong.status()).isEqualTo(414);
      assertThat(tooLong.body()).contains("the request line is too long; POST takes long keys");
    }
    try (RawClient client = new RawClient(address)) {
      client.send("GET /echo?q=1 HTTP/1.1\r\nHost: x\r\nX: " + almost + "\r\n\r\n");
      assertThat(client.answer().status()).isEqualTo(200);
      client.send("GET /echo?q=1 HTTP/1.1\r\nHost: x\r\nX: " + more + "\r\n\r\n");
      assertThat(client.answer().status()).isEqualTo(431);
    }
    try (RawClient client = new RawClient(address)) {
      String chunk = "1f4\r\n" + "x".repeat(500) + "\r\n";
      client.send(
          "POST /upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
              + chunk.repeat(2)
              + "0\r\n\r\n");
      assertThat(client.answer().body()).isEqualTo("1000");
      client.send(
          "POST /upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
              + chunk.repeat(3));
      assertThat(client.answer().status()).isEqualTo(413);
    }
  }

  @Test
  void aPeerIsToldToGoOnBeforeItSendsABody() throws Exception {
    try (RawClient client = new RawClient(start(HttpLimits.DEFAULT))) {
      client.send(
          "POST /upload HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n");
      assertThat(client.answer().status()).isEqualTo(100);
      assertThat(client.send("abc").answer().body()).isEqualTo("3");
    }
  }

  @Test
  void headIsGetWithoutTheBody() throws Exception {
    try (RawClient client = new RawClient(start(HttpLimits.DEFAULT))) {
      client.send("HEAD /echo?q=four HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.answerToHead().header("content-length")).isEqualTo("4");
      client.send("HEAD /large HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.answerToHead().header("content-length")).isEqualTo("" + LARGE_BYTES);
      assertThat(client.get("/echo?q=on").answer().body()).isEqualTo("on");
    }
  }

  @Test
  void olderPeersAndThoseThatWantToCloseAreServed() throws Exception {
    InetSocketAddress address = start(HttpLimits.DEFAULT);
    for (String request :
        List.of(
            "GET /echo?q=1 HTTP/1.0\r\n\r\n",
            "GET /echo?q=1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")) {
      try (RawClient client = new RawClient(address)) {
        RawClient.Answer answer = client.send(request).answer();
        assertThat(answer.body()).isEqualTo("1");
        assertThat(answer.header("connection")).isEqualTo("close");
        assertThat(client.read()).isEqualTo(-1);
      }
    }
    try (RawClient client = new RawClient(address)) {
      client.send("GET http://other.example/echo?q=whole HTTP/1.1\r\nHost: x\r\n\r\n");
      assertThat(client.answer().body()).isEqualTo("whole");
    }
  }

  @Test
  void aRequestThatTricklesInIsCutOff() throws Exception {
    InetSocketAddress address = start(HttpLimits.DEFAULT.withTimeouts(SHORT, LONG, LONG));
    try (RawClient trickling = new RawClient(address);
        RawClient idle = new RawClient(address)) {
      trickling.send("GET /echo?q=");
      CompletableFuture<Void> ended = CompletableFuture.runAsync(trickling::awaitEnd);
      // Sending a byte now and then must not extend the time.
      for (int i = 0; !ended.isDone(); i++) {
        assertThat(i).as("bytes sent, and still open").isLessThan(1_000);
        try {
          trickling.send("x");
        } catch (IOException e) {
          break;
        }
        TimeUnit.MILLISECONDS.sleep(5);
      }
      ended.get(LONG.toSeconds(), TimeUnit.SECONDS);
      // The control: an idle connection has the longer time.
      assertThat(idle.get("/echo?q=still").answer().body()).isEqualTo("still");
    }
  }

  @Test
  void aConnectionWithoutRequestsIsClosed() throws Exception {
    InetSocketAddress address = start(HttpLimits.DEFAULT.withTimeouts(LONG, SHORT, LONG));
    try (RawClient client = new RawClient(address)) {
      client.awaitEnd();
    }
  }

  @Test
  void aPeerThatTakesNothingIsCutOffAndHoldsLittle() throws Exception {
    InetSocketAddress address = start(HttpLimits.DEFAULT.withTimeouts(LONG, LONG, SHORT));
    try (RawClient client = new RawClient(address, 4096)) {
      client.get("/large");
      // The peer reads nothing until the server has closed the connection.
      while (largeReplies.get() == 0 || service.connections() > 0) {
        TimeUnit.MILLISECONDS.sleep(10);
      }
      client.awaitEnd();
    }
  }

  @Test
  void oneConnectionTooManyIsRefused() throws Exception {
    InetSocketAddress address = start(HttpLimits.DEFAULT.withMaxConnections(2, 9, 1));
    try (RawClient first = new RawClient(address)) {
      assertThat(first.get("/echo?q=1").answer().status()).isEqualTo(200);
      try (RawClient second = new RawClient(address)) {
        assertThat(second.get("/echo?q=1").answer().status()).isEqualTo(200);
        try (RawClient third = new RawClient(address)) {
          RawClient.Answer refusal = third.get("/echo?q=1").answer();
          assertThat(refusal.status()).isEqualTo(503);
          assertThat(refusal.body()).contains("connections are open, which is the most");
          third.awaitEnd();
        }
        assertThat(refusedConnections.get()).isEqualTo(1);
      }
      while (service.connections() > 1) {
        TimeUnit.MILLISECONDS.sleep(10);
      }
      try (RawClient third = new RawClient(address)) {
        assertThat(third.get("/echo?q=1").answer().status()).isEqualTo(200);
      }
    }
  }

  @Test
  @EnabledOnOs(OS.LINUX) // Elsewhere the loopback has one address.
  void onePeerTakesItsShareOfTheConnectionsAndNoMore() throws Exception {
    InetSocketAddress address = start(HttpLimits.DEFAULT.withMaxConnections(3, 2, 1));
    InetAddress other = InetAddress.getByName("127.0.0.2");
    try (RawClient first = new RawClient(address);
        RawClient second = new RawClient(address)) {
      assertThat(first.get("/echo?q=1").answer().status()).isEqualTo(200);
      assertThat(second.get("/echo?q=1").answer().status()).isEqualTo(200);
      try (RawClient third = new RawClient(address)) {
        RawClient.Answer refusal = third.get("/echo?q=1").answer();
        assertThat(refusal.status()).isEqualTo(503);
        assertThat(refusal.body())
            .isEqualTo(
                "{\"error\":\"this peer has 2 connections open, which is the most: use them,"
                    + " or close some\"}\n");
        third.awaitEnd();
      }
      try (RawClient health = new RawClient(address);
          RawClient others = RawClient.from(other, address)) {
        RawClient.Answer answer = health.get("/health?").answer();
        assertThat(answer.body()).isEqualTo("alive");
        assertThat(answer.header("connection")).isEqualTo("close");
        assertThat(others.get("/echo?q=1").answer().status()).isEqualTo(200);
        try (RawClient tooMany = RawClient.from(other, address)) {
          assertThat(tooMany.get("/echo?q=1").answer().body())
              .isEqualTo(
                  "{\"error\":\"3 connections are open, which is the most: try again"
                      + " later\"}\n");
        }
      }
    }
    while (service.connections() > 0) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
    try (RawClient again = new RawClient(address)) {
      assertThat(again.get("/echo?q=1").answer().status()).isEqualTo(200);
    }
  }

  @Test
  void idleConnectionsKeepNoHealthCheckOut() throws Exception {
    InetSocketAddress address = start(HttpLimits.DEFAULT.withMaxConnections(1, 1, 2));
    List<RawClient> idle = new ArrayList<>();
    try {
      for (int i = 0; i < 5; i++) {
        idle.add(new RawClient(address));
        // The service takes one after the other.
        while (service.connections() < Math.min(i + 1, 3) || refusedConnections.get() < i - 2) {
          TimeUnit.MILLISECONDS.sleep(1);
        }
      }
      try (RawClient health = new RawClient(address)) {
        assertThat(health.get("/health").answer().body()).isEqualTo("alive");
      }
      // The first has the only place, and those that came after it had to go for the newer ones.
      assertThat(idle.get(0).get("/echo?q=1").answer().status()).isEqualTo(200);
      for (RawClient gone : idle.subList(1, 3)) {
        assertThat(gone.answer().body())
            .isEqualTo(
                "{\"error\":\"too many connections are open; the most are 1, 1 of one peer, and 2"
                    + " more for health: try again later\"}\n");
        gone.awaitEnd();
      }
    } finally {
      for (RawClient client : idle) {
        client.close();
      }
    }
  }

  @Test
  void bodiesAreBoundedInAllAndLetInAgainOnceOthersAreDone() throws Exception {
    InetSocketAddress address =
        start(HttpLimits.DEFAULT.withMaxBodyBytes(1000).withMaxBodiesBytes(2500));
    String known =
        "POST /upload HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n";
    String chunked = "POST /upload HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    String chunk = "1f4\r\n" + "x".repeat(500) + "\r\n";
    try (RawClient first = new RawClient(address);
        RawClient second = new RawClient(address);
        RawClient third = new RawClient(address);
        RawClient fourth = new RawClient(address)) {
      assertThat(first.send(known).answer().status()).isEqualTo(100);
      assertThat(second.send(known).answer().status()).isEqualTo(100);
      RawClient.Answer refusal = third.send(known).answer();
      assertThat(refusal.status()).isEqualTo(503);
      assertThat(refusal.header("retry-after")).isEqualTo("1");
      assertThat(refusal.body())
          .isEqualTo(
              "{\"error\":\"the bodies of all current requests may take 2500 bytes, they take 2000, and"
                  + " 1000 more are too many: try again later\"}\n");
      assertThat(fourth.send(chunked + chunk + chunk + "0\r\n\r\n").answer().status())
          .isEqualTo(503);
      assertThat(first.send("x".repeat(1000)).answer().body()).isEqualTo("1000");
      second.send("half of it");
    }
    while (service.bodies.taken() > 0) {
      TimeUnit.MILLISECONDS.sleep(10);
    }
    try (RawClient again = new RawClient(address)) {
      for (int i = 0; i < 5; i++) {
        again.send(chunked + chunk + chunk + "0\r\n\r\n");
        assertThat(again.answer().body()).isEqualTo("1000");
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1, 200",
    "127.0.0.1:8080, 200",
    "[::1]:8080, 200",
    "localhost, 200",
    "LOCALHOST.:1, 200",
    "a.localhost, 200",
    "filter.example.org:80, 200",
    "Filter.Example.ORG., 200",
    "evil.example, 421",
    "evil.example:8080, 421",
    "filter.example.org.evil.example, 421",
    "127.0.0.1.evil.example, 421",
    "localhost.evil.example, 421",
    "[::1].evil.example, 421",
    "'', 421"
  })
  void answersByAllowedNamesOnly(String host, int status) throws Exception {
    InetSocketAddress address =
        start(
            HttpLimits.DEFAULT, Access.by(AllowedHosts.only(List.of("filter.example.org"))), LONG);
    try (RawClient client = new RawClient(address)) {
      RawClient.Answer answer =
          client.send("GET /echo?q=1 HTTP/1.1\r\nHost: " + host + "\r\n\r\n").answer();
      assertThat(answer.status()).isEqualTo(status);
      if (status == 421) {
        assertThat(answer.body())
            .isEqualTo(
                "{\"error\":\"the Host header must be an IP address, localhost,"
                    + " filter.example.org, got '"
                    + host
                    + "' (serve --allow-host NAME allows more)\"}\n");
      }
    }
  }

  @ParameterizedTest
  @CsvSource({
    "127.0.0.1, false",
    "localhost, false",
    "0.0.0.0, true",
    "192.0.2.1, true",
    "no..such, true"
  })
  void strangeNamesAreRefusedWhereOnlyThisMachineConnects(String listensOn, boolean allowed) {
    AllowedHosts hosts = AllowedHosts.defaultFor(new InetSocketAddress(listensOn, 0));
    assertThat(hosts.allow("evil.example:8080")).isEqualTo(allowed);
    assertThat(hosts.allow("127.0.0.1:8080")).isTrue();
    assertThat(hosts.allow(null)).isTrue();
  }

  @Test
  void tooManySlowRequestsAreRefusedAndNotQueuedWithoutEnd() throws Exception {
    InetSocketAddress address = start(HttpLimits.DEFAULT);
    int more = 8;
    int atWork = Math.max(2, Runtime.getRuntime().availableProcessors());
    List<RawClient> clients = new ArrayList<>();
    try {
      for (int i = 0; i < atWork + HttpService.MAX_WAITING_FOR_WORKER + more; i++) {
        clients.add(new RawClient(address).get("/wait"));
      }
      // Idle connections are closed at once, while the others wait.
      while (refused.get() < more) {
        TimeUnit.MILLISECONDS.sleep(10);
      }
      release.countDown();
      int told = 0;
      for (RawClient client : clients) {
        told += client.answer().status() == 503 ? 1 : 0;
      }
      assertThat(told).isEqualTo(more);
    } finally {
      for (RawClient client : clients) {
        client.close();
      }
    }
  }

  @Test
  void closingFinishesWhatIsUnderWay() throws Exception {
    InetSocketAddress address = start(HttpLimits.DEFAULT);
    CompletableFuture<Void> closed;
    try (RawClient busy = new RawClient(address);
        RawClient idle = new RawClient(address)) {
      assertThat(idle.get("/echo?q=1").answer().status()).isEqualTo(200);
      busy.get("/wait");
      entered.await();
      closed = CompletableFuture.runAsync(service::close);
      idle.awaitEnd();
      assertThatThrownBy(() -> new RawClient(address)).isInstanceOf(IOException.class);
      assertThat(closed).isNotDone();
      release.countDown();
      RawClient.Answer answer = busy.answer();
      assertThat(answer.body()).isEqualTo("released");
      assertThat(answer.header("connection")).isEqualTo("close");
    }
    closed.get(LONG.toSeconds(), TimeUnit.SECONDS);
  }

  @Test
  void closingWaitsNoLongerThanItsGrace() throws Exception {
    InetSocketAddress address = start(HttpLimits.DEFAULT, SHORT);
    try (RawClient busy = new RawClient(address)) {
      busy.get("/wait");
      entered.await();
      CompletableFuture.runAsync(service::close).get(LONG.toSeconds(), TimeUnit.SECONDS);
      busy.awaitEnd();
    }
  }

  @Test
  void aPortThatIsTakenIsOneSentence() throws Exception {
    InetSocketAddress address = start(HttpLimits.DEFAULT);
    assertThatThrownBy(
            () ->
                new HttpService(
                    address,
                    HttpLimits.DEFAULT,
                    Access.by(AllowedHosts.any()),
                    SHORT,
                    new RequestObserver() {},
                    List.of()))
        .isInstanceOf(IOException.class)
        .hasMessage(
            "cannot listen on %s:%d: the port is in use"
                .formatted(address.getHostString(), address.getPort()));
  }
}
