package io.firstseen.jobs.events;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.jobs.shared.UserErrorException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/**
 * The schemas of a registry with the interface of Confluent's, {@code GET /schemas/ids/{id}}. A
 * registry that does not answer fails the job; a schema that it does not have is the fault of the
 * value.
 */
final class SchemaRegistry implements AvroSchemas {
  /** Where the user and the password come from, {@code user:password}, in every task's process. */
  static final String AUTH_VARIABLE = "FIRSTSEEN_SCHEMA_REGISTRY_AUTH";

  static final int MAX_BYTES = 4 << 20;
  static final int ATTEMPTS = 4;

  private static final long serialVersionUID = 1;

  private static final int MOST_ANSWERS = 10_000;
  private static final Duration PATIENCE = Duration.ofSeconds(5);
  // What registries say of an id that they do not have, and not of a wrong path.
  private static final int NO_SUCH_SCHEMA = 40_403;
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final URI registry;
  private final long firstPauseMillis;
  private final String authVariable;
  private transient HttpClient client;
  private transient Map<Integer, Answer> answers;

  /**
   * @param firstPauseMillis how long to wait after the first failure; twice as long after the next
   * @param authVariable the environment variable with user and password
   */
  SchemaRegistry(URI registry, long firstPauseMillis, String authVariable) {
    this.registry = registry;
    this.firstPauseMillis = firstPauseMillis;
    this.authVariable = authVariable;
  }

  /** A schema, or why there is none. */
  private record Answer(@Nullable Schema schema, @Nullable String problem) {}

  @Override
  public Schema of(int id) throws MalformedEventException {
    if (answers == null) {
      answers = new Answers();
      client =
          HttpClient.newBuilder()
              .connectTimeout(PATIENCE)
              .followRedirects(HttpClient.Redirect.NEVER)
              .build();
    }
    Answer answer = answers.get(id);
    if (answer == null) {
      answer = ask(id);
      answers.put(id, answer);
    }
    if (answer.schema() == null) {
      throw new MalformedEventException(answer.problem());
    }
    return answer.schema();
  }

  private Answer ask(int id) {
    String problem = "";
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      try {
        if (attempt > 0) {
          TimeUnit.MILLISECONDS.sleep(firstPauseMillis << (attempt - 1));
        }
        HttpResponse<byte[]> response = send(request(id));
        int status = response.statusCode();
        if (status < 500 && status != 429) {
          return answer(id, status, response.body());
        }
        problem = "it answers with status " + status;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new UncheckedIOException(new InterruptedIOException());
      } catch (ExecutionException e) {
        problem = String.valueOf(e.getCause());
      } catch (TimeoutException e) {
        problem = "no answer within " + PATIENCE.toSeconds() + " seconds";
      }
    }
    throw failure("cannot be read, after %d attempts: %s".formatted(ATTEMPTS, problem));
  }

  /** The time-out of a request would not count the body. */
  private HttpResponse<byte[]> send(HttpRequest request)
      throws InterruptedException, ExecutionException, TimeoutException {
    CompletableFuture<HttpResponse<byte[]>> answer =
        client.sendAsync(request, HttpResponse.BodyHandlers.ofByteArray());
    try {
      return answer.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
    } finally {
      answer.cancel(true);
    }
  }

  private HttpRequest request(int id) {
    String base = registry.toString();
    URI uri = URI.create((base.endsWith("/") ? base : base + "/") + "schemas/ids/" + id);
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri)
            .header("Accept", "application/vnd.schemaregistry.v1+json, application/json");
    String auth = auth();
    if (auth != null) {
      request.header(
          "Authorization", "Basic " + Base64.getEncoder().encodeToString(auth.getBytes(UTF_8)));
    }
    return request.build();
  }

  private @Nullable String auth() {
    String auth = System.getenv(authVariable);
    if (auth == null || auth.isEmpty()) {
      return null;
    }
    if (auth.indexOf(':') < 0) {
      throw new UserErrorException(authVariable + " must be user:password, it has no colon");
    }
    return auth;
  }

  private Answer answer(int id, int status, byte[] body) {
    if (status == 401 || status == 403) {
      throw failure(
          "refuses to answer, with status %d: set %s to user:password for every TaskManager"
              .formatted(status, authVariable));
    }
    if (body.length > MAX_BYTES) {
      return new Answer(
          null, "schema %d must be at most %d bytes, it has more".formatted(id, MAX_BYTES));
    }
    JsonNode json = json(body);
    if (status == 404 && json.path("error_code").asInt() == NO_SUCH_SCHEMA) {
      return new Answer(null, "schema %d is not in the registry".formatted(id));
    }
    if (status != 200 || !json.path("schema").isTextual()) {
      throw failure(
          "answers with status %d and no schema: is the address right?".formatted(status));
    }
    String type = json.path("schemaType").asText("AVRO");
    if (!type.equals("AVRO")) {
      return new Answer(
          null, "schema %d must be of Avro, it is of %s".formatted(id, Excerpt.of(type)));
    }
    if (!json.path("references").isEmpty()) {
      return new Answer(null, "schema %d must have no references, it has some".formatted(id));
    }
    try {
      return new Answer(AvroSchemas.parse(json.path("schema").asText()), null);
    } catch (AvroRuntimeException e) {
      return new Answer(
          null,
          "schema %d cannot be used: %s".formatted(id, Excerpt.of(String.valueOf(e.getMessage()))));
    }
  }

  private static JsonNode json(byte[] body) {
    try {
      return MAPPER.readTree(body);
    } catch (JsonProcessingException e) {
      return MAPPER.missingNode();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private UncheckedIOException failure(String what) {
    return new UncheckedIOException(
        new IOException("the schema registry at " + registry + " " + what));
  }

  /** The newest answers. Values may name any number of schemas. */
  private static final class Answers extends LinkedHashMap<Integer, Answer> {
    private static final long serialVersionUID = 1;

    @Override
    protected boolean removeEldestEntry(Map.Entry<Integer, Answer> eldest) {
      return size() > MOST_ANSWERS;
    }
  }
}
