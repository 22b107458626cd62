package io.firstseen.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;

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
    return Main.run(new PrintWriter(out), new PrintWriter(err), false, words);
  }

  private static List<String> lines(StringWriter text) {
    return text.toString().lines().toList();
  }
}
