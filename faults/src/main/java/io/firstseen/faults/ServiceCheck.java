package io.firstseen.faults;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Asks the HTTP service for keys, all the time, and judges its answers. */
final class ServiceCheck extends Worker {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int KEYS = 500;
  private static final int PAUSE_MILLIS = 200;

  private final HttpClient http =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(2))
          .build();
  private final HttpRequest.Builder request;
  private final ExactModel model;
  private final IntSupplier produced;
  private final SplittableRandom random;

  final List<String> differences = new CopyOnWriteArrayList<>();

  /** The number of queries for live keys. */
  final AtomicLong asked = new AtomicLong();

  private volatile long newest = -1;

  ServiceCheck(int port, ExactModel model, IntSupplier produced) {
    super("service-check");
    this.model = model;
    this.produced = produced;
    this.random = new SplittableRandom(model.settings().seed());
    this.request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v1/contains"))
            .timeout(Duration.ofSeconds(5))
            .header("Content-Type", "text/plain");
    start();
  }

  /** The newest sequence that has answered; -1 if none has. */
  long newest() {
    return newest;
  }

  @Override
  void step() throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
    int events = produced.getAsInt();
    if (events == 0) {
      return;
    }
    int[] keys = random.ints(KEYS, 0, events).map(event -> model.event(event).key()).toArray();
    String lines = IntStream.of(keys).mapToObj(ExactModel::key).collect(Collectors.joining("\n"));
    try {
      HttpResponse<String> answer =
          http.send(request.POST(BodyPublishers.ofString(lines)).build(), BodyHandlers.ofString());
      if (answer.statusCode() == 200) {
        judge(JSON.readTree(answer.body()), keys, events);
      } else if (answer.statusCode() != 503) {
        difference("the service answers with status " + answer.statusCode());
      }
    } catch (IOException e) {
      // It is down, or slow.
    }
  }

  private void judge(JsonNode answer, int[] keys, int events) {
    long sequence = answer.path("sequence").asLong();
    long end = answer.path("windowEndMillis").asLong() - model.settings().baseMillis();
    if (end > events) {
      return;
    }
    if (sequence < newest) {
      difference("the service answers from snapshot %d after %d".formatted(sequence, newest));
    }
    JsonNode answers = answer.path("answers");
    for (int i = 0; i < keys.length; i++) {
      if (model.isLive(keys[i], (int) end)) {
        asked.incrementAndGet();
        if (!answers.path(i).path("present").asBoolean()) {
          difference(
              "the service: key %s is absent from snapshot %d"
                  .formatted(ExactModel.key(keys[i]), sequence));
        }
      }
    }
    newest = Math.max(newest, sequence);
  }

  private void difference(String sentence) {
    if (differences.size() < 20) {
      differences.add(sentence);
    }
  }
}
