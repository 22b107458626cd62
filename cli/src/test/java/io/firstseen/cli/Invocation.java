package io.firstseen.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.cli.shared.ExitCode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * One call of the command in this JVM.
 *
 * @param status what it ended with
 * @param out the lines on standard output
 * @param err the lines on standard error
 */
public record Invocation(int status, List<String> out, List<String> err) {

  public static Invocation of(String... words) {
    return withInput("", words);
  }

  public static Invocation withInput(String input, String... words) {
    return withInput(input.getBytes(UTF_8), words);
  }

  public static Invocation withInput(byte[] input, String... words) {
    InputStream before = System.in;
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    System.setIn(new ByteArrayInputStream(input));
    try {
      int status = run(out, err, words);
      return new Invocation(status, lines(out), lines(err));
    } finally {
      System.setIn(before);
    }
  }

  /** Calls it where what it prints can be seen meanwhile, and returns its status. */
  public static int run(StringWriter out, StringWriter err, String... words) {
    return Main.run(
        Main.commandLineFor(words), new PrintWriter(out), new PrintWriter(err), false, words);
  }

  /** The one line on standard output of a call that has ended well. */
  public JsonNode json() throws IOException {
    assertThat(status).as("%s", this).isZero();
    assertThat(out).hasSize(1);
    return new ObjectMapper().readTree(out.get(0));
  }

  /** Requires a usage error in one line that contains the sentence. */
  public void assertRefused(String sentence) {
    assertThat(status).as("%s", this).isEqualTo(ExitCode.USAGE);
    assertThat(out).isEmpty();
    assertThat(err).singleElement().asString().contains(sentence);
  }

  /** The sorted names of the files in a directory, to see what a call has left there. */
  public static List<String> names(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private static List<String> lines(StringWriter text) {
    return text.toString().lines().toList();
  }
}
