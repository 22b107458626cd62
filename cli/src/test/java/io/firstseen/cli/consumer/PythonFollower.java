package io.firstseen.cli.consumer;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A follower of the package in Python, as a process that answers questions. */
final class PythonFollower implements AutoCloseable {
  private static final Path HOME = Path.of("../clients/python").toAbsolutePath().normalize();

  /**
   * A line of input is a sequence and keys, between tabs. It waits until a set of at least that
   * sequence answers, and says what this set holds.
   */
  private static final String LOOP =
      """
      import json, sys
      import firstseen
      from firstseen import kafka

      kind, place, cache = sys.argv[1:4]
      troubles, updates = [], []
      options = dict(set_name="spam", poll_seconds=0.05, cache=cache,
                     on_trouble=troubles.append, on_update=updates.append)
      source = place
      if kind != "http":
          servers, topic = place.split(" ")
          client = {"confluent": kafka._Confluent, "kafka-python": kafka._KafkaPython}[kind]
          source = firstseen.KafkaSource(client(servers, topic, {}, 30), "spam")
      with firstseen.follow(source, **options) as follower:
          for line in sys.stdin:
              sequence, *keys = line.rstrip("\\n").split("\\t")
              found = follower.wait(60, int(sequence))
              print(json.dumps({
                  "sequence": found.sequence,
                  "keys": len(found),
                  "present": found.contains_each(keys),
                  "byPacks": [update.by_packs for update in updates],
                  "bytes": [update.bytes_read for update in updates],
                  "troubles": troubles,
                  "trouble": follower.trouble,
              }), flush=True)
      """;

  private final Process process;
  private final BufferedWriter questions;
  private final BufferedReader answers;

  /**
   * Starts it.
   *
   * @param python the program, see {@link #python}
   * @param kind http, or the Kafka client: confluent or kafka-python
   * @param place the address of the service, or servers and topic with a space between
   */
  PythonFollower(String python, String kind, String place, Path cache) throws IOException {
    process =
        builder(python, "-c", LOOP, kind, place, cache.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    questions = process.outputWriter(UTF_8);
    answers = process.inputReader(UTF_8);
  }

  private static ProcessBuilder builder(String python, String... arguments) {
    List<String> command = new ArrayList<>(List.of(python, "-X", "utf8", "-B"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().putAll(Map.of("PYTHONPATH", HOME.toString(), "no_proxy", "*"));
    return builder;
  }

  /** A Python that runs the package and has a module of a version; empty if there is none. */
  static Optional<String> python(String module, String least) throws InterruptedException {
    String check =
        """
        import re, sys, %1$s
        numbers = lambda version: [int(number) for number in re.findall("[0-9]+", version)[:2]]
        found = getattr(%1$s, "__version__", "") or sys.version
        sys.exit(sys.version_info < (3, 9) or numbers(found) < numbers("%2$s"))
        """
            .formatted(module, least);
    for (String python : List.of("python3", "/usr/bin/python3")) {
      try {
        Process process =
            builder(python, "-c", check)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        if (process.waitFor() == 0) {
          return Optional.of(python);
        }
      } catch (IOException e) {
        // There is no such program.
      }
    }
    return Optional.empty();
  }

  /** What the set of a sequence, or a later one, says of keys. */
  JsonNode ask(long sequence, String... keys) throws IOException {
    questions.write(sequence + "\t" + String.join("\t", keys) + "\n");
    questions.flush();
    String answer = answers.readLine();
    if (answer == null) {
      throw new AssertionError("the follower in Python ended");
    }
    return new ObjectMapper().readTree(answer);
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
