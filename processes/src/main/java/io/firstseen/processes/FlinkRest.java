package io.firstseen.processes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** A client of a Flink cluster's REST API that runs jobs from a jar. */
public final class FlinkRest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String JSON_TYPE = "application/json";
  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(1);
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(60);

  /** A user error in the stack trace of the cluster's response. */
  private static final Pattern MISTAKE =
      Pattern.compile(Pattern.quote(UserErrorException.class.getName()) + ": ([^\\n]+)");

  private static final Pattern CAUSE =
      Pattern.compile("^(?:Caused by: |<Exception on server side:\\s+)(.+)", Pattern.MULTILINE);

  private final URI address;
  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(CONNECT_LIMIT)
          .build();

  /** Creates a client of the cluster whose web page has this address. */
  public FlinkRest(URI address) {
    this.address = address;
  }

  /** The address of the web page. */
  public URI address() {
    return address;
  }

  /** Whether a TaskManager of this name has registered. */
  boolean hasTaskManager(String id) throws IOException {
    return get("/taskmanagers").path("taskmanagers").findValuesAsText("id").contains(id);
  }

  /** Whether this many TaskManagers have registered. They also register with a new JobManager. */
  public boolean hasTaskManagers(int count) throws IOException {
    return get("/overview").path("taskmanagers").asInt(-1) >= count;
  }

  /** The states of all jobs, such as RUNNING, by job id. */
  public Map<String, String> jobs() throws IOException {
    Map<String, String> states = new TreeMap<>();
    for (JsonNode job : get("/jobs").path("jobs")) {
      states.put(job.path("id").asText(), job.path("status").asText());
    }
    return states;
  }

  /**
   * A job to run.
   *
   * @param jar the jar with the class
   * @param main the main class
   * @param arguments the arguments of {@code main}
   * @param settings Flink's settings for this job, by configuration key
   * @param from the checkpoint or savepoint to start from
   */
  public record Job(
      Path jar,
      String main,
      List<String> arguments,
      Map<String, String> settings,
      Optional<String> from) {}

  /**
   * Runs a job and returns its id. Its {@code main} runs in the JobManager.
   *
   * @throws UserErrorException if the job rejects its arguments
   * @throws IOException if the job cannot be started for another reason
   */
  public String run(Job job) throws IOException {
    String jar = upload(job.jar());
    try {
      ObjectNode request = JSON.createObjectNode().put("entryClass", job.main());
      job.arguments().forEach(request.putArray("programArgsList")::add);
      job.settings().forEach(request.putObject("flinkConfiguration")::put);
      job.from().ifPresent(from -> request.put("savepointPath", from));
      return post("/jars/" + jar + "/run", request).path("jobid").asText();
    } finally {
      forget(jar);
    }
  }

  private void forget(String jar) {
    try {
      send("DELETE", "/jars/" + jar, JSON_TYPE, BodyPublishers.noBody());
    } catch (IOException e) {
      // The job may be running. The JobManager deletes the file when it stops.
    }
  }

  /** Uploads a jar, and returns its id. */
  public String upload(Path jar) throws IOException {
    String boundary = "firstseen-jar";
    String head =
        "--%s\r\nContent-Disposition: form-data; name=\"jarfile\"; filename=\"%s\"\r\nContent-Type: application/java-archive\r\n\r\n"
            .formatted(boundary, jar.getFileName());
    BodyPublisher body =
        BodyPublishers.concat(
            BodyPublishers.ofString(head),
            BodyPublishers.ofFile(jar),
            BodyPublishers.ofString("\r\n--" + boundary + "--\r\n"));
    String stored =
        send("POST", "/jars/upload", "multipart/form-data; boundary=" + boundary, body)
            .path("filename")
            .asText();
    return URLEncoder.encode(stored.substring(stored.lastIndexOf('/') + 1), StandardCharsets.UTF_8);
  }

  /** Flink's description of the checkpoints of a job: {@code /jobs/ID/checkpoints}. */
  public JsonNode checkpoints(String job) throws IOException {
    return get("/jobs/" + job + "/checkpoints");
  }

  /**
   * Waits until every task of the job runs.
   *
   * @param limit the timeout, excluding the time in which tasks restore their state before a first
   *     failure
   * @throws IOException if the job ends, or after the timeout
   */
  public void awaitRunning(String job, Duration limit) throws IOException {
    long leftNanos = limit.toNanos();
    long beforeNanos = System.nanoTime();
    while (true) {
      JsonNode details = get("/jobs/" + job);
      String state = details.path("state").asText();
      List<String> tasks = details.path("vertices").findValuesAsText("status");
      if (state.equals("RUNNING") && tasks.stream().allMatch(state::equals)) {
        return;
      }
      long nowNanos = System.nanoTime();
      boolean restores = tasks.contains("INITIALIZING");
      leftNanos -= restores && whyFailed(job).isEmpty() ? 0 : nowNanos - beforeNanos;
      beforeNanos = nowNanos;
      if (List.of("FAILED", "CANCELED", "FINISHED").contains(state) || leftNanos < 0) {
        String why = whyFailed(job);
        throw new IOException(
            "job %s is %s: %s"
                .formatted(job, state, why.isEmpty() ? "not all of its tasks are running" : why));
      }
      LocalProcess.pause();
    }
  }

  /**
   * The reason of the last failure of a job: the message of a user error, or Flink's message; empty
   * without a failure.
   */
  public String whyFailed(String job) throws IOException {
    String text = failureText(job);
    return mistakeIn(text).orElseGet(() -> reason(text));
  }

  /**
   * The message of the user error that caused the last failure of a job; empty for other failures.
   */
  public Optional<String> mistake(String job) throws IOException {
    return mistakeIn(failureText(job));
  }

  private String failureText(String job) throws IOException {
    JsonNode entries = get("/jobs/" + job + "/exceptions").path("exceptionHistory").path("entries");
    return entries.path(0).path("stacktrace").asText();
  }

  private static Optional<String> mistakeIn(String text) {
    return MISTAKE.matcher(text).results().map(mistake -> mistake.group(1)).findFirst();
  }

  /**
   * Stops a job with a savepoint and returns the savepoint's path.
   *
   * @param directory the directory in which Flink creates the savepoint's directory
   */
  public String stopWithSavepoint(String job, String directory) throws IOException {
    ObjectNode body = JSON.createObjectNode().put("targetDirectory", directory).put("drain", false);
    String request = post("/jobs/" + job + "/stop", body).path("request-id").asText();
    while (true) {
      JsonNode answer = get("/jobs/" + job + "/savepoints/" + request);
      if (answer.path("status").path("id").asText().equals("COMPLETED")) {
        JsonNode failure = answer.path("operation").path("failure-cause");
        if (!failure.isMissingNode() && !failure.isNull()) {
          throw new IOException(failure.path("stack-trace").asText());
        }
        return answer.path("operation").path("location").asText();
      }
      LocalProcess.pause();
    }
  }

  /** Cancels a job; its last checkpoint is kept. */
  public void cancel(String job) throws IOException {
    send("PATCH", "/jobs/" + job + "?mode=cancel", JSON_TYPE, BodyPublishers.noBody());
  }

  private JsonNode get(String path) throws IOException {
    return send("GET", path, JSON_TYPE, BodyPublishers.noBody());
  }

  private JsonNode post(String path, ObjectNode body) throws IOException {
    return send("POST", path, JSON_TYPE, BodyPublishers.ofString(body.toString()));
  }

  private JsonNode send(String method, String path, String type, BodyPublisher body)
      throws IOException {
    HttpRequest request =
        HttpRequest.newBuilder(address.resolve(path))
            .timeout(ANSWER_LIMIT)
            .header("Content-Type", type)
            .method(method, body)
            .build();
    try {
      HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
      JsonNode answer = JSON.readTree(response.body());
      if (response.statusCode() >= 400) {
        throw failure(method + " " + path, response.statusCode(), answer);
      }
      return answer;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private static IOException failure(String request, int status, JsonNode answer) {
    List<String> errors = new ArrayList<>();
    answer.path("errors").forEach(error -> errors.add(error.asText()));
    String text = String.join("\n", errors);
    Optional<String> mistake = mistakeIn(text);
    if (mistake.isPresent()) {
      throw new UserErrorException(mistake.get());
    }
    return new IOException(
        "Flink responds with status %d to %s: %s".formatted(status, request, reason(text)));
  }

  /** The failure and its cause in a stack trace; the JobManager's log contains the whole trace. */
  private static String reason(String text) {
    String first = text.lines().findFirst().orElse("");
    return CAUSE
        .matcher(text)
        .results()
        .reduce((earlier, later) -> later)
        .map(last -> first + " Because of " + last.group(1))
        .orElse(first);
  }
}
