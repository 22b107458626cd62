package io.firstseen.sql;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.TableResult;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;

/** Helper methods for tests of SQL. */
final class Sql {
  private static final Pattern SET = Pattern.compile("SET '([^']*)' = '([^']*)'");
  private static final Path EXAMPLES = Path.of("../examples").toAbsolutePath().normalize();

  private Sql() {}

  static StreamTableEnvironment tables(Configuration settings) {
    return StreamTableEnvironment.create(
        StreamExecutionEnvironment.getExecutionEnvironment(settings).setParallelism(2));
  }

  static StreamTableEnvironment tables() {
    return tables(new Configuration());
  }

  /** The rows of a bounded query, with their kinds, sorted. */
  static List<String> rows(StreamTableEnvironment tables, String query) {
    return inOrder(tables, query).stream().sorted().toList();
  }

  /** The rows of a bounded query, with their kinds. */
  static List<String> inOrder(StreamTableEnvironment tables, String query) {
    List<String> rows = new ArrayList<>();
    Iterator<Row> result = tables.executeSql(query).collect();
    result.forEachRemaining(row -> rows.add(row.toString()));
    return rows;
  }

  /**
   * Runs an example as the SQL client does, and waits for its end.
   *
   * @param output the directory for the files that it writes
   */
  static void runExample(
      StreamTableEnvironment tables, String name, Path output, String bootstrapServers)
      throws Exception {
    String script = example(name, output, bootstrapServers).replaceAll("(?m)^ *--.*$", "");
    for (String statement : script.split(";\\s*(\\n\\n|$)", 0)) {
      Matcher setting = SET.matcher(statement.strip());
      if (setting.matches()) {
        tables.getConfig().set(setting.group(1), setting.group(2));
      } else {
        TableResult result = tables.executeSql(statement);
        if (result.getJobClient().isPresent()) {
          result.await();
        }
      }
    }
  }

  /** The text of an example whose files and brokers are elsewhere. */
  static String example(String name, Path output, String bootstrapServers) throws IOException {
    return Files.readString(EXAMPLES.resolve("sql").resolve(name))
        .replace("'examples/", "'" + EXAMPLES + "/")
        .replaceAll("'path' = '([^'/]+)'", "'path' = '" + output + "/$1'")
        .replace("localhost:9092", bootstrapServers)
        .replace(
            "'earliest-offset'", "'earliest-offset', 'table.scan.bounded.mode' = 'latest-offset'")
        // The job ends with a checkpoint.
        .replace("'10s'", "'200ms'");
  }

  /** The lines of all files of a directory that a file sink wrote, sorted. */
  static List<String> lines(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files
          .filter(
              file -> Files.isRegularFile(file) && !file.getFileName().toString().startsWith("."))
          .flatMap(
              file -> {
                try {
                  return Files.readAllLines(file).stream();
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              })
          .sorted()
          .toList();
    }
  }
}
