package io.firstseen.events;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscribers;
import java.time.Clock;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.kafka.common.cache.LRUCache;
import org.jspecify.annotations.Nullable;

/**
 * The schemas of a registry with Confluent's interface, {@code GET /schemas/ids/{id}}. If the
 * registry does not respond, the job fails; if the registry does not have a schema, the value is
 * malformed. A new schema may appear in the registry with a delay, so the request for a missing
 * schema is repeated.
 */
final class SchemaRegistry implements AvroSchemas {
  /** The environment variable with {@code user:password} in every task's process. */
  static final String AUTH_VARIABLE = "FIRSTSEEN_SCHEMA_REGISTRY_AUTH";

  static final int MAX_BYTES = 4 << 20;
  static final int ATTEMPTS = 4;

  /** The time for which a missing schema is cached. */
  static final Duration ABSENCE = Duration.ofSeconds(30);

  private static final long serialVersionUID = 1;

  private static final int MAX_ANSWERS = 10_000;
  private static final Duration TIMEOUT = Duration.ofSeconds(5);
  // The error code of a registry for an unknown id, as opposed to a wrong path.
  private static final int NO_SUCH_SCHEMA = 40_403;
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private final URI registry;
  private final long firstPauseMillis;
  private final String authVariable;
  private final Clock clock;
  private transient HttpClient client;
  // Bounded, because values may refer to any number of schemas.
  private transient LRUCache<Integer, Answer> answers;

  /**
   * @param firstPauseMillis the pause after the first failure; doubled after each further failure
   * @param authVariable the environment variable with user and password
   * @param clock the clock, which must be serializable
   */
  SchemaRegistry(URI registry, long firstPauseMillis, String authVariable, Clock clock) {
    this.registry = registry;
    this.firstPauseMillis = firstPauseMillis;
    this.authVariable = authVariable;
    this.clock = clock;
  }

  /** A schema or the reason why there is none, and the expiry of this entry. */
  private record Answer(@Nullable Schema schema, @Nullable String problem, long untilMillis) {

    /** A schema that exists does not change. */
    static Answer unusable(String problem) {
      return new Answer(null, problem, Long.MAX_VALUE);
    }
  }

  @Override
  public Schema of(int id) throws MalformedEventException {
    if (id < 1) {
      throw new MalformedEventException("schema id must be at least 1, got " + id);
    }
    if (answers == null) {
      answers = new LRUCache<>(MAX_ANSWERS);
      client =
          HttpClient.newBuilder()
              .connectTimeout(TIMEOUT)
              .followRedirects(HttpClient.Redirect.NEVER)
              .build();
    }
    Answer answer = answers.get(id);
    if (answer == null || clock.millis() >= answer.untilMillis()) {
      answer = ask(id);
      answers.put(id, answer);
    }
    if (answer.schema() == null) {
      throw new MalformedEventException(answer.problem());
    }
    return answer.schema();
  }

  private Answer absent(String problem) {
    return new Answer(null, problem, clock.millis() + ABSENCE.toMillis());
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
        boolean isAbsent =
            status == 404 && json(response.body()).path("error_code").asInt() == NO_SUCH_SCHEMA;
        if (isAbsent && attempt == ATTEMPTS - 1) {
          return absent("schema %d is not in the registry".formatted(id));
        }
        if (status < 500 && status != 429 && !isAbsent) {
          return answer(id, status, response.body());
        }
        problem = "it responds with status " + status;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new UncheckedIOException(new InterruptedIOException());
      } catch (ExecutionException e) {
        problem = String.valueOf(e.getCause());
      } catch (TimeoutException e) {
        problem = "no response within " + TIMEOUT.toSeconds() + " seconds";
      }
    }
    throw failure("cannot be read, after %d attempts: %s".formatted(ATTEMPTS, problem));
  }

  /** The timeout of a request would not include the body. */
  private HttpResponse<byte[]> send(HttpRequest request)
      throws InterruptedException, ExecutionException, TimeoutException {
    CompletableFuture<HttpResponse<byte[]>> answer =
        client.sendAsync(
            request,
            unused ->
                BodySubscribers.mapping(BodySubscribers.ofInputStream(), SchemaRegistry::bounded));
    try {
      return answer.get(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
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
    String auth = System.getenv(authVariable);
    if (auth != null && !auth.isEmpty()) {
      if (auth.indexOf(':') < 0) {
        throw new UserErrorException(authVariable + " must be user:password, it has no colon");
      }
      request.header(
          "Authorization", "Basic " + Base64.getEncoder().encodeToString(auth.getBytes(UTF_8)));
    }
    return request.build();
  }

  private Answer answer(int id, int status, byte[] body) {
    if (status == 401 || status == 403) {
      throw failure(
          "rejects the request with status %d: set %s to user:password for every TaskManager"
              .formatted(status, authVariable));
    }
    if (status == 400 || status == 422) {
      return absent(
          "schema %d cannot be requested: the registry responds with status %d"
              .formatted(id, status));
    }
    if (status == 200 && body.length > MAX_BYTES) {
      return Answer.unusable(
          "schema %d must be at most %d bytes, got more".formatted(id, MAX_BYTES));
    }
    JsonNode json = json(body);
    if (status != 200 || !json.path("schema").isTextual()) {
      throw failure("responds with status %d and no schema: check the address".formatted(status));
    }
    String type = json.path("schemaType").asText("AVRO");
    if (!type.equals("AVRO")) {
      return Answer.unusable(
          "schema %d must be an Avro schema, its type is %s"
              .formatted(id, EventRules.excerpt(type)));
    }
    if (!json.path("references").isEmpty()) {
      return Answer.unusable("schema %d must not have references".formatted(id));
    }
    try {
      return new Answer(AvroSchemas.parse(json.path("schema").asText()), null, Long.MAX_VALUE);
    } catch (AvroRuntimeException e) {
      return Answer.unusable(
          "schema %d is unusable: %s"
              .formatted(id, EventRules.excerpt(String.valueOf(e.getMessage()))));
    }
  }

  private static JsonNode json(byte[] body) {
    try {
      return MAPPER.readTree(body);
    } catch (IOException e) {
      return MAPPER.missingNode();
    }
  }

  private UncheckedIOException failure(String what) {
    return new UncheckedIOException(
        new IOException("the schema registry at " + registry + " " + what));
  }

  private static byte[] bounded(InputStream body) {
    try (body) {
      return body.readNBytes(MAX_BYTES + 1);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
