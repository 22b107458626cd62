package io.firstseen.server;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import java.io.BufferedReader;
import java.io.File;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The reader in JavaScript follows this service. */
// A read from a process is not interrupted.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class JavaScriptFollowerTest {
  private static final Path COMMAND = Path.of("../clients/javascript/bin/firstseen.js");
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir private Path path;
  private DirectoryPublisher publisher;
  private SnapshotServer server;
  private final long[] hashes = new Random(5).longs(3_000).toArray();
  private final List<Process> processes = new ArrayList<>();

  @BeforeEach
  void start() throws Exception {
    boolean hasNode =
        Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, "node")));
    assumeTrue(
        hasNode,
        "no node on this machine, so following in JavaScript is not tested (Debian: apt-get"
            + " install nodejs)");
    hashes[0] = KeyHash.fixed().hash("a".getBytes(UTF_8));
    publisher = new DirectoryPublisher(path, "spam", KeyHash.fixed(), Canonicaliser.NONE, 4);
    server =
        SnapshotServer.start(
            ServerOptions.at(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
            List.of(
                DirectoryPublisher.source(path, "spam", KeyHash.fixed(), Duration.ofMillis(20))),
            new ServiceLog() {});
  }

  @AfterEach
  void stop() {
    processes.forEach(Process::destroyForcibly);
    if (server != null) {
      server.close();
    }
  }

  private BufferedReader run(String verb, String... words) throws Exception {
    List<String> command = new ArrayList<>(List.of("node", COMMAND.toString(), verb));
    command.add("http://127.0.0.1:" + server.address().getPort());
    command.addAll(List.of(words));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    processes.add(process);
    return process.inputReader(UTF_8);
  }

  private Manifest publish(long sequence, int from, int to) throws Exception {
    Manifest manifest = publisher.writeBlobs(sequence, Arrays.copyOfRange(hashes, from, to));
    publisher.writeManifest(manifest);
    return manifest;
  }

  private void awaitSequence(long sequence) throws Exception {
    String url = "http://127.0.0.1:%d/v1/status".formatted(server.address().getPort());
    HttpClient http = HttpClient.newHttpClient();
    HttpRequest request = HttpRequest.newBuilder(URI.create(url)).build();
    await("sequence " + sequence)
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                JSON.readTree(http.send(request, HttpResponse.BodyHandlers.ofString()).body())
                        .at("/sets/0/sequence")
                        .asLong()
                    == sequence);
  }

  private static void assertReached(JsonNode told, Manifest manifest, String way) {
    assertThat(told.path("sequence").asLong()).isEqualTo(manifest.sequence());
    assertThat(told.path("root").asText()).isEqualTo(manifest.root());
    assertThat(told.path("count").asLong()).isEqualTo(manifest.count());
    assertThat(told.path("way").asText()).isEqualTo(way);
  }

  @Test
  void goesByBasesOnceAndThenByPacks() throws Exception {
    Manifest first = publish(1, 0, 2_900);
    awaitSequence(1);
    BufferedReader told = run("follow", "--interval=0.02", "--json");
    JsonNode bases = JSON.readTree(told.readLine());
    assertReached(bases, first, "bases");
    JsonNode packs = null;
    for (int sequence = 2; sequence < 6; sequence++) {
      Manifest next = publish(sequence, 0, 2_900 + 10 * sequence);
      packs = JSON.readTree(told.readLine());
      assertReached(packs, next, "packs");
    }
    assertThat(packs.path("bytes").asLong() * 10).isLessThan(bases.path("bytes").asLong());
    assertThat(run("query", "a", "b").lines()).containsExactly("a\tpresent", "b\tabsent");
  }

  /** As from a topic, of which the service has no blobs. */
  @Test
  void takesTheBasesThatTheServiceMakes() throws Exception {
    publish(1, 0, 2_000);
    Manifest newest = publish(2, 0, 2_500);
    awaitSequence(2);
    try (Stream<Path> blobs = Files.list(path.resolve("blobs"))) {
      for (Path blob : blobs.toList()) {
        Files.delete(blob);
      }
    }
    JsonNode told = JSON.readTree(run("follow", "--once", "--json").readLine());
    assertReached(told, newest, "bases");
    assertThat(run("query", "a", "b").lines()).containsExactly("a\tpresent", "b\tabsent");
  }
}
