package io.firstseen.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.cli.CommandProcess;
import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.fixtures.SelfSigned;
import io.firstseen.fixtures.SetPublisher;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** {@code firstseen serve} as a supervisor and its clients see it. */
@DisabledOnOs(OS.WINDOWS)
class ServeProcessTest {
  private static final String MARK = "marked-to-be-found";
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path directory;
  private final HttpClient http = HttpClient.newHttpClient();
  private Path work;
  private Path snapshots;

  @BeforeEach
  void makeSnapshots() throws Exception {
    work = Files.createDirectory(directory.resolve("work"));
    snapshots = directory.resolve("snapshots");
    publish("firstseen", Canonicaliser.NONE, snapshots, "a", "b", "c");
  }

  private static void publish(
      String set, Canonicaliser canonicaliser, Path snapshotsOfSet, String... keys)
      throws Exception {
    KeyHash hash = KeyHash.fixed();
    new SetPublisher(set, SetParameters.of(hash, canonicaliser, new Shards(4), 0.001))
        .publish(
            1,
            0,
            1_000,
            Arrays.stream(keys)
                .mapToLong(key -> hash.hash(key.getBytes(StandardCharsets.UTF_8)))
                .toArray())
        .write(new SnapshotDirectory(snapshotsOfSet));
  }

  private List<String> lines(String file) throws IOException {
    return Files.readAllLines(work.resolve(file));
  }

  private boolean logged(String event) throws IOException {
    return Files.readString(work.resolve("err")).contains("\"event\":\"" + event + "\"");
  }

  private HttpResponse<String> get(URI url) throws Exception {
    return http.send(HttpRequest.newBuilder(url).build(), HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void servesUntilItIsToldToEndAndFinishesWhatIsUnderWay() throws Exception {
    try (CommandProcess serve =
        CommandProcess.start(
            work,
            "serve",
            "--directory=" + snapshots,
            "--port=0",
            "--json",
            "--access-log",
            "--drain=2s")) {
      await("it serves a snapshot").atMost(LONG).until(() -> lines("out").size() == 2);
      JsonNode started = JSON.readTree(String.join("\n", lines("out").get(0), ""));
      JsonNode snapshot = JSON.readTree(lines("out").get(1));
      if (started.path("event").asText().equals("snapshot")) {
        JsonNode first = started;
        started = snapshot;
        snapshot = first;
      }
      assertThat(started.path("event").asText()).isEqualTo("serving");
      assertThat(started.path("sets").toString()).isEqualTo("[\"firstseen\"]");
      assertThat(snapshot.path("keys").asInt()).isEqualTo(3);
      URI url = URI.create(started.path("url").asText());
      assertThat(url.getHost()).isEqualTo("127.0.0.1");
      assertThat(get(url.resolve("readyz")).statusCode()).isEqualTo(200);
      assertThat(get(url.resolve("v1/contains?key=b")).body()).contains("\"present\":true");
      assertThat(get(url.resolve("v1/contains?key=z")).body()).contains("\"present\":false");

      try (Socket late = new Socket(url.getHost(), url.getPort())) {
        String half =
            "POST /v1/contains HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n";
        late.getOutputStream().write(half.getBytes(StandardCharsets.US_ASCII));
        serve.terminate();
        await("it says that it ends")
            .atMost(LONG)
            .until(() -> get(url.resolve("readyz")).statusCode() == 503);
        assertThat(get(url.resolve("v1/contains?key=c")).body()).contains("\"present\":true");
        await("it takes no more connections").atMost(LONG).until(() -> isClosed(url));
        String rest = "Content-Length: 1\r\n\r\na";
        late.getOutputStream().write(rest.getBytes(StandardCharsets.US_ASCII));
        String answer = new String(late.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(answer).contains("connection: close").contains("\"present\":true");
      }
      Invocation ended = serve.end();
      assertThat(ended.status()).isEqualTo(143);
      assertThat(ended.err()).isEmpty();
      List<String> requests =
          ended.out().stream().filter(line -> line.contains("\"event\":\"request\"")).toList();
      assertThat(requests.get(0)).contains("\"path\":\"/readyz\",\"status\":200");
      // Keys must not be in the log.
      assertThat(requests).noneMatch(line -> line.contains("key="));
    }
  }

  @Test
  void manyLongBodiesAreAnsweredOrRefusedWhateverTheHeap() throws Exception {
    int peers = 160;
    byte[] body = "a".repeat(1 << 20).getBytes(StandardCharsets.US_ASCII);
    try (CommandProcess serve =
        CommandProcess.startWithHeap(
            "128m", work, "serve", "--directory=" + snapshots, "--port=0", "--json")) {
      await("it serves a snapshot").atMost(LONG).until(() -> lines("out").size() == 2);
      URI url = url();
      CyclicBarrier allButTheEnd = new CyclicBarrier(peers);
      ExecutorService threads = Executors.newFixedThreadPool(peers);
      try {
        List<Future<Integer>> statuses = new ArrayList<>();
        for (int i = 0; i < peers; i++) {
          statuses.add(threads.submit(() -> upload(url, body, allButTheEnd)));
        }
        List<Integer> told = new ArrayList<>();
        for (Future<Integer> status : statuses) {
          told.add(status.get(1, TimeUnit.MINUTES));
        }
        assertThat(told).contains(200).isSubsetOf(200, 503);
      } finally {
        threads.shutdownNow();
      }
      assertThat(get(url.resolve("readyz")).statusCode()).isEqualTo(200);
      assertThat(upload(url, body, new CyclicBarrier(1))).isEqualTo(200);
      serve.terminate();
      assertThat(serve.end().err()).isEmpty();
    }
  }

  private URI url() throws IOException {
    return URI.create(serving().path("url").asText());
  }

  private JsonNode serving() throws IOException {
    for (String line : lines("out")) {
      JsonNode event = JSON.readTree(line);
      if (event.path("event").asText().equals("serving")) {
        return event;
      }
    }
    throw new AssertionError("no line says where");
  }

  /** Sends a body, its last byte after the barrier, and returns the status. */
  private static int upload(URI url, byte[] body, CyclicBarrier allButTheEnd) throws Exception {
    try (Socket socket = new Socket(url.getHost(), url.getPort())) {
      socket.setSoTimeout((int) LONG.toMillis());
      OutputStream out = socket.getOutputStream();
      String head =
          "POST /v1/contains HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
              + "Content-Type: text/plain\r\nContent-Length: "
              + body.length
              + "\r\n\r\n";
      out.write(head.getBytes(StandardCharsets.US_ASCII));
      out.write(body, 0, body.length - 1);
      allButTheEnd.await(1, TimeUnit.MINUTES);
      out.write(body, body.length - 1, 1);
      byte[] status = socket.getInputStream().readNBytes("HTTP/1.1 200".length());
      String text = new String(status, StandardCharsets.US_ASCII);
      socket.getInputStream().transferTo(OutputStream.nullOutputStream());
      return Integer.parseInt(text.substring(text.length() - 3));
    }
  }

  private static boolean isClosed(URI url) {
    try (Socket socket = new Socket(url.getHost(), url.getPort())) {
      return !socket.isConnected();
    } catch (IOException e) {
      return true;
    }
  }

  @Test
  void asksTheListsOfSeveralDirectoriesForAUrl() throws Exception {
    Path lists = directory.resolve("lists");
    publish("phishing", Canonicaliser.URL_EXPRESSION, lists, "s2-citi.com/", "example.org/");
    Path allowed = directory.resolve("allowed");
    publish("ours", Canonicaliser.URL_EXPRESSION, allowed, "ok.example.org/");
    try (CommandProcess serve =
        CommandProcess.start(
            work,
            "serve",
            "--directory=" + snapshots,
            "--directory=" + lists,
            "--directory=" + allowed,
            "--allow=ours",
            "--port=0",
            "--json")) {
      await("it serves three snapshots").atMost(LONG).until(() -> lines("out").size() == 4);
      JsonNode serving = serving();
      assertThat(serving.path("sets").toString())
          .isEqualTo("[\"firstseen\",\"phishing\",\"ours\"]");
      assertThat(serving.path("allow").toString()).isEqualTo("[\"ours\"]");
      assertThat(serving.path("from").asText())
          .isEqualTo(snapshots + ", " + lists + ", " + allowed);
      URI match = url().resolve("v1/match?url=");
      assertThat(get(URI.create(match + "https://s2-citi.com/login")).body())
          .contains(
              "\"present\":true,\"matches\":[{\"set\":\"phishing\",\"entry\":\"s2-citi.com/\"}]");
      assertThat(get(URI.create(match + "https://www.ok.example.org/")).body())
          .contains("\"present\":false,\"matches\":[{\"set\":\"phishing\"")
          .contains("\"allowedBy\":[{\"set\":\"ours\",\"entry\":\"ok.example.org/\"}]");
      serve.terminate();
      assertThat(serve.end().err()).isEmpty();
    }
  }

  /** With a hash key of another set, to also check the rejection. */
  @Test
  void answersWithATokenOverTlsAndShowsNoSecretAnywhere() throws Exception {
    String token = "0123456789-" + MARK;
    Path tokenFile = Files.writeString(work.resolve("token"), token + "\n");
    String hashKey = "00000000" + "5ec4e75ec4e7" + "000000000000";
    SelfSigned keys = SelfSigned.make(work, "EC");
    try (CommandProcess serve =
        CommandProcess.startWithHashKey(
            hashKey,
            work,
            "serve",
            "--directory=" + snapshots,
            "--set=firstseen",
            // Without it the service would end.
            "--directory=" + work.resolve("later"),
            "--set=later",
            "--port=0",
            "--json",
            "--access-log",
            "--host=0.0.0.0",
            "--allow-host=localhost",
            "--token-file=" + tokenFile,
            "--tls-certificate=" + keys.certificate(),
            "--tls-key=" + keys.key())) {
      await("it serves and has refused the set")
          .atMost(LONG)
          .until(() -> lines("out").size() == 1 && lines("err").size() == 3);
      HttpClient client = HttpClient.newBuilder().sslContext(keys.trustingClients()).build();
      URI url = url();
      assertThat(url.getScheme()).isEqualTo("https");
      StringBuilder shown = new StringBuilder();
      for (String target :
          List.of("healthz", "v1/status", "metrics", "v1/contains?set=firstseen&key=a")) {
        HttpRequest open = HttpRequest.newBuilder(url.resolve(target)).build();
        HttpResponse<String> refused = client.send(open, HttpResponse.BodyHandlers.ofString());
        assertThat(refused.statusCode()).isEqualTo(target.equals("healthz") ? 200 : 401);
        HttpResponse<String> answer =
            client.send(
                HttpRequest.newBuilder(url.resolve(target))
                    .header("authorization", "Bearer " + token)
                    .build(),
                HttpResponse.BodyHandlers.ofString());
        assertThat(answer.statusCode()).isEqualTo(target.startsWith("v1/contains") ? 503 : 200);
        shown.append(refused.headers()).append(refused.body());
        shown.append(answer.headers()).append(answer.body());
      }
      Path commandLine = Path.of("/proc", Long.toString(serve.pid()), "cmdline");
      shown.append(
          OS.LINUX.isCurrentOs()
              ? Files.readString(commandLine)
              : "--token-file is not looked for");
      serve.terminate();
      Invocation ended = serve.end();
      assertThat(ended.err())
          .anyMatch(line -> line.contains("access to the secret file " + tokenFile));
      shown.append(ended.out()).append(ended.err());
      assertThat(shown)
          .contains("--token-file", "v1/status", "firstseen_set_ready")
          .doesNotContainIgnoringCase(MARK)
          .doesNotContainIgnoringCase("5ec4e75ec4e7");
      for (String line : Files.readAllLines(keys.key())) {
        assertThat(line.startsWith("-----") || !shown.toString().contains(line)).isTrue();
      }
    }
  }

  @Tag("slow")
  @Test
  void endsAtOnceIfItHasAnotherHashKey() throws Exception {
    try (CommandProcess serve =
        CommandProcess.startWithHashKey(
            "000102030405060708090a0b0c0d0e0f",
            work,
            "serve",
            "--directory=" + snapshots,
            "--port=0")) {
      Invocation end = serve.end();
      assertThat(end.status()).isEqualTo(ExitCode.USAGE);
      assertThat(end.err())
          .last()
          .asString()
          .startsWith("firstseen serve: sequence 1 of set 'firstseen' cannot be used: the set is")
          .endsWith("configure the hash key that the publisher uses");
    }
  }

  @Test
  void saysInALineWhatItServesAndWhatIsWrong() throws Exception {
    Path manifest = snapshots.resolve("manifest-0000000009.bin");
    try (CommandProcess serve =
        CommandProcess.start(work, "serve", "--directory=" + snapshots, "--port=0")) {
      await("it serves a snapshot").atMost(LONG).until(() -> lines("out").size() == 2);
      assertThat(lines("out"))
          .anyMatch(
              line ->
                  line.matches(
                      "serving set firstseen on http://127\\.0\\.0\\.1:[0-9]+/ from .*snapshots"))
          .anyMatch(
              line -> line.matches("set firstseen: sequence [0-9]+ is active, 3 keys at .*Z"));
      Files.writeString(manifest, "{");
      await("it complains").atMost(LONG).until(() -> !lines("err").isEmpty());
      assertThat(lines("err"))
          .singleElement()
          .asString()
          .startsWith("set firstseen: sequence 9 of set 'firstseen' cannot be used: ");
      serve.interrupt();
      assertThat(serve.end().status()).isEqualTo(130);
    }
  }

  @Tag("slow")
  @Test
  void logsObjectsWithTimeAndLevel() throws Exception {
    try (CommandProcess serve =
        CommandProcess.start(
            work,
            "serve",
            "--directory=" + snapshots,
            "--port=0",
            "--access-log",
            "--log-format=json")) {
      await("it serves a snapshot").atMost(LONG).until(() -> logged("snapshot"));
      Files.writeString(snapshots.resolve("manifest-0000000009.bin"), "{");
      await("it complains").atMost(LONG).until(() -> logged("trouble"));
      serve.terminate();
      Invocation end = serve.end();
      assertThat(end.out()).isEmpty();
      List<JsonNode> entries = new ArrayList<>();
      for (String line : end.err()) {
        entries.add(new ObjectMapper().readTree(line));
      }
      assertThat(entries)
          .allSatisfy(
              entry -> {
                assertThat(Instant.parse(entry.path("time").asText())).isNotNull();
                assertThat(entry.path("logger").asText()).startsWith("io.firstseen.");
              });
      // In addition to the output of the service, its components write logs.
      entries.removeIf(entry -> entry.at("/fields/event").isMissingNode());
      assertThat(entries.stream().map(entry -> entry.at("/fields/event").asText()))
          .containsExactly("serving", "snapshot", "trouble");
      assertThat(entries.stream().map(entry -> entry.path("level").asText()))
          .containsExactly("INFO", "INFO", "WARN");
      assertThat(entries.get(2).path("message").asText())
          .startsWith("set firstseen: sequence 9 of set 'firstseen' cannot be used: ");
    }
  }
}
