package io.firstseen.filters.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The reader in JavaScript as one process that answers the operations of its conformance.js. */
final class JavaScriptReader implements AutoCloseable {
  static final Path PACKAGE = Path.of("../clients/javascript");
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Process process;
  private final BufferedWriter requests;
  private final BufferedReader answers;

  JavaScriptReader() throws IOException {
    process =
        new ProcessBuilder(List.of("node", PACKAGE.resolve("conformance.js").toString()))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    requests = process.outputWriter(UTF_8);
    answers = process.inputReader(UTF_8);
  }

  /** Where Node is installed. */
  static Optional<Path> node() {
    return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
        .map(folder -> Path.of(folder, "node"))
        .filter(Files::isExecutable)
        .findFirst();
  }

  static ObjectNode request(String operation) {
    return JSON.createObjectNode().put("op", operation);
  }

  /** The answer to a request. */
  JsonNode ask(ObjectNode request) throws IOException {
    requests.write(JSON.writeValueAsString(request) + "\n");
    requests.flush();
    String answer = answers.readLine();
    if (answer == null) {
      throw new AssertionError("the reader in JavaScript ended at " + request);
    }
    JsonNode read = JSON.readTree(answer);
    if (read.has("failed") || read.has("unsupported")) {
      throw new AssertionError(request + ": " + answer);
    }
    return read;
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
