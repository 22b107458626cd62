package io.firstseen.server;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** A headless Chromium with one tab, driven over its DevTools protocol. */
final class Chromium implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final long TIMEOUT_SECONDS = 60;

  /** Pages ask for news every two seconds; here sooner. */
  private static final String SHORT_WAITS =
      """
      const after = window.setTimeout;
      window.setTimeout = (call, millis, ...rest) =>
        after(call, millis === 2000 ? 100 : millis, ...rest);
      """;

  private final Process process;
  private final WebSocket socket;
  private final AtomicInteger ids = new AtomicInteger();
  private final Map<Integer, CompletableFuture<JsonNode>> pending = new ConcurrentHashMap<>();
  private final List<String> complaints = new CopyOnWriteArrayList<>();

  /** Where one is installed. */
  static Optional<Path> find() {
    Stream<Path> folders =
        Stream.of(System.getenv().getOrDefault("PATH", "").split(":")).map(Path::of);
    return folders
        .flatMap(
            folder ->
                Stream.of("chromium", "chromium-browser", "google-chrome").map(folder::resolve))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /**
   * Starts it.
   *
   * @param directory an empty one, for its profile
   */
  static Chromium start(Path directory) throws Exception {
    List<String> command = new ArrayList<>(List.of(find().orElseThrow().toString()));
    command.addAll(
        List.of(
            "--headless",
            // Chromium's sandbox requires permissions that a build in a container rarely has.
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--remote-debugging-port=0",
            "--remote-allow-origins=*",
            "--user-data-dir=" + directory,
            "about:blank"));
    Path output = directory.resolve("output");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      Path active = directory.resolve("DevToolsActivePort");
      // The first start after an installation reads a few hundred megabytes.
      long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(3);
      while (!Files.exists(active) || Files.readAllLines(active).size() < 2) {
        if (!process.isAlive() || System.nanoTime() > deadline) {
          throw new AssertionError("Chromium does not listen: " + Files.readString(output));
        }
        TimeUnit.MILLISECONDS.sleep(20);
      }
      return new Chromium(process, Files.readAllLines(active).get(0));
    } catch (Throwable e) {
      process.destroyForcibly();
      throw e;
    }
  }

  private Chromium(Process process, String port) throws Exception {
    this.process = process;
    HttpClient http = HttpClient.newHttpClient();
    HttpRequest newTab =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/json/new"))
            .PUT(HttpRequest.BodyPublishers.noBody())
            .build();
    String tab = http.send(newTab, HttpResponse.BodyHandlers.ofString()).body();
    URI debugger = URI.create(JSON.readTree(tab).path("webSocketDebuggerUrl").asText());
    this.socket =
        http.newWebSocketBuilder()
            .buildAsync(debugger, new Listener())
            .get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    call("Runtime.enable", JSON.createObjectNode());
    call("Log.enable", JSON.createObjectNode());
    call("Page.enable", JSON.createObjectNode());
    call(
        "Page.addScriptToEvaluateOnNewDocument",
        JSON.createObjectNode().put("source", SHORT_WAITS));
  }

  private final class Listener implements WebSocket.Listener {
    private final StringBuilder text = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
      text.append(data);
      if (last) {
        accept(text.toString());
        text.setLength(0);
      }
      from.request(1);
      return null;
    }
  }

  private void accept(String text) {
    try {
      JsonNode message = JSON.readTree(text);
      if (message.has("id")) {
        pending.remove(message.path("id").asInt()).complete(message);
      } else if (message.path("method").asText().equals("Runtime.exceptionThrown")) {
        complaints.add(message.at("/params/exceptionDetails").toString());
      } else if (message.path("method").asText().equals("Log.entryAdded")
          && message.at("/params/entry/level").asText().equals("error")) {
        complaints.add(message.at("/params/entry/text").asText());
      }
    } catch (IOException e) {
      complaints.add(e.toString());
    }
  }

  private JsonNode call(String method, ObjectNode parameters) throws Exception {
    int id = ids.incrementAndGet();
    CompletableFuture<JsonNode> answer = new CompletableFuture<>();
    pending.put(id, answer);
    ObjectNode message = JSON.createObjectNode().put("id", id).put("method", method);
    message.set("params", parameters);
    socket.sendText(message.toString(), true).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    JsonNode result = answer.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    if (result.has("error")) {
      throw new AssertionError(method + ": " + result.path("error"));
    }
    return result.path("result");
  }

  /** Errors of scripts, of loading, and of the page's policy, since the last call. */
  List<String> complaints() {
    List<String> all = List.copyOf(complaints);
    complaints.clear();
    return all;
  }

  void open(String url) throws Exception {
    call("Page.navigate", JSON.createObjectNode().put("url", url));
  }

  /** The value of an expression. */
  JsonNode evaluate(String expression) throws Exception {
    JsonNode result =
        call(
            "Runtime.evaluate",
            JSON.createObjectNode()
                .put("expression", expression)
                .put("returnByValue", true)
                .put("awaitPromise", true));
    if (result.has("exceptionDetails")) {
      throw new AssertionError(expression + ": " + result.path("exceptionDetails"));
    }
    return result.at("/result/value");
  }

  void await(String condition) throws Exception {
    // While a page loads, elements of the condition may not exist yet.
    String soft = "(() => { try { return Boolean(%s); } catch { return false; } })()";
    Awaitility.await(condition)
        .atMost(Duration.ofSeconds(30))
        .until(() -> evaluate(soft.formatted(condition)).asBoolean());
  }

  /** Emulates another screen. */
  void become(int width, int height, boolean dark) throws Exception {
    call(
        "Emulation.setDeviceMetricsOverride",
        JSON.createObjectNode()
            .put("width", width)
            .put("height", height)
            .put("deviceScaleFactor", 1)
            .put("mobile", false));
    ObjectNode media = JSON.createObjectNode();
    media
        .putArray("features")
        .addObject()
        .put("name", "prefers-color-scheme")
        .put("value", dark ? "dark" : "light");
    call("Emulation.setEmulatedMedia", media);
  }

  void screenshot(Path file) throws Exception {
    JsonNode shot =
        call("Page.captureScreenshot", JSON.createObjectNode().put("captureBeyondViewport", true));
    Files.createDirectories(file.getParent());
    Files.write(file, Base64.getDecoder().decode(shot.path("data").asText()));
  }

  @Override
  public void close() {
    socket.abort();
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly().onExit().join();
  }
}
