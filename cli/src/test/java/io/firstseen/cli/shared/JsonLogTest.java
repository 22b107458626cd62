package io.firstseen.cli.shared;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.core.Appender;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.impl.Log4jLogEvent;
import org.apache.logging.log4j.message.SimpleMessage;
import org.apache.logging.log4j.util.SortedArrayStringMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The configurations of log4j that write JSON, each with the layout that it really gets. */
class JsonLogTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path ROOT = Path.of("..");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cli/src/main/resources/log4j2-json.properties",
        "processes/src/main/resources/log4j2-process-json.properties",
        "deploy/flink/log4j-console.properties"
      })
  void eachEntryIsAnObjectOnALine(String file) throws Exception {
    LoggerContext context = new LoggerContext(file);
    context.setConfigLocation(ROOT.resolve(file).toUri());
    context.start();
    try {
      Appender console = context.getConfiguration().getAppender("console");
      SortedArrayStringMap fields = new SortedArrayStringMap();
      fields.putValue("set", "firstseen");
      String line =
          new String(
              console
                  .getLayout()
                  .toByteArray(
                      Log4jLogEvent.newBuilder()
                          .setLoggerName("io.firstseen.Some")
                          .setLevel(Level.WARN)
                          .setThreadName("main")
                          .setTimeMillis(1_700_000_000_123L)
                          .setContextData(fields)
                          .setMessage(new SimpleMessage("two \"quoted\"\nlines"))
                          .setThrown(new IllegalStateException("outer", new Exception("inner")))
                          .build()),
              UTF_8);
      assertThat(line).endsWith(System.lineSeparator());
      assertThat(line.strip().lines()).hasSize(1);
      JsonNode entry = JSON.readTree(line);
      assertThat(List.copyOf(entry.properties()).stream().map(Map.Entry::getKey))
          .containsExactly("time", "level", "logger", "thread", "message", "exception", "fields");
      assertThat(entry.path("time").asText()).isEqualTo("2023-11-14T22:13:20.123Z");
      assertThat(entry.path("level").asText()).isEqualTo("WARN");
      assertThat(entry.path("logger").asText()).isEqualTo("io.firstseen.Some");
      assertThat(entry.path("message").asText()).isEqualTo("two \"quoted\"\nlines");
      assertThat(entry.path("exception").asText())
          .startsWith("java.lang.IllegalStateException: outer\n")
          .contains("Caused by: java.lang.Exception: inner");
      assertThat(entry.path("fields").path("set").asText()).isEqualTo("firstseen");
    } finally {
      context.stop();
    }
  }

  /** The logs of all processes use the same field names. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "processes/src/main/resources/log4j2-process-json.properties",
        "deploy/flink/log4j-console.properties"
      })
  void theTemplateIsTheSame(String file) throws Exception {
    assertThat(template(file))
        .isNotEmpty()
        .isEqualTo(template("cli/src/main/resources/log4j2-json.properties"));
  }

  private static String template(String file) throws Exception {
    Properties properties = new Properties();
    try (var reader = Files.newBufferedReader(ROOT.resolve(file))) {
      properties.load(reader);
    }
    return properties.getProperty("appender.console.layout.eventTemplate");
  }
}
