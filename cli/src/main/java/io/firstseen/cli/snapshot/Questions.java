package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.InputFile;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.jobs.files.EventFiles;
import io.firstseen.jobs.files.LineReader;
import io.firstseen.operators.UserErrorException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.util.function.FunctionWithException;
import picocli.CommandLine;

/**
 * The queries of a command: words of its command line, or lines of standard input. Lines that
 * arrive together are processed together, and all of them before the command waits for more input.
 */
final class Questions {
  private final List<byte[]> waiting = new ArrayList<>();
  private final FunctionWithException<List<byte[]>, Integer, SnapshotException> answers;
  private final PrintWriter out;
  private int invalid;

  private Questions(
      FunctionWithException<List<byte[]>, Integer, SnapshotException> answers, PrintWriter out) {
    this.answers = answers;
    this.out = out;
  }

  /**
   * Processes the words, or standard input if there are no words or only {@code -}.
   *
   * @param answers prints the results of queries, in their order, and returns the number of queries
   *     that could not be evaluated
   * @return the exit code
   */
  static int answer(
      List<String> words,
      CommandLine command,
      FunctionWithException<List<byte[]>, Integer, SnapshotException> answers)
      throws SnapshotException {
    Questions questions = new Questions(answers, command.getOut());
    if (words.isEmpty() || words.equals(List.of(InputFile.STANDARD_INPUT))) {
      questions.answerStandardInput();
    } else {
      questions.waiting.addAll(words.stream().map(Questions::bytesOf).toList());
      questions.answerWaiting();
    }
    if (questions.invalid == 0) {
      return ExitCode.GOOD;
    }
    command.getOut().flush();
    command
        .getErr()
        .println(
            "invalid: "
                + questions.invalid
                + " could not be evaluated, so whether they are present is unknown");
    return ExitCode.INVALID_QUERY;
  }

  /** A text as a field of a line of output. */
  static String field(String text) {
    return text.replaceAll("[\\t\\r\\n]", " ");
  }

  /** The bytes of a key on the command line. */
  static byte[] bytesOf(String key) {
    String encoding = System.getProperty("sun.jnu.encoding", "UTF-8");
    if (key.indexOf('\uFFFD') >= 0 && !encoding.equalsIgnoreCase("UTF-8")) {
      // Java has replaced undecodable bytes with U+FFFD; the result would be wrong.
      throw new UserErrorException(
          "this locale ("
              + encoding
              + ") cannot carry the key '"
              + key
              + "'; set LC_ALL=C.UTF-8, or give keys on standard input");
    }
    return key.getBytes(StandardCharsets.UTF_8);
  }

  private void answerStandardInput() throws SnapshotException {
    LineReader lines = new LineReader(new Dialogue(System.in), EventFiles.MAX_LINE_BYTES);
    try {
      for (byte[] line = lines.next(); line != null; line = lines.next()) {
        waiting.add(line);
      }
      answerWaiting();
    } catch (SnapshotException e) {
      throw e;
    } catch (IOException e) {
      throw UserErrorException.cannot("read", InputFile.nameOf(InputFile.STANDARD_INPUT), e);
    }
  }

  private void answerWaiting() throws SnapshotException {
    invalid += answers.apply(waiting);
    waiting.clear();
  }

  /**
   * Processes all lines that were read, and flushes the results, before it waits for more input.
   */
  private final class Dialogue extends FilterInputStream {
    Dialogue(InputStream input) {
      super(input);
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
      answerWaiting();
      // The reader has closed the pipe, like 'head': end the input.
      return out.checkError() ? -1 : super.read(buffer, offset, length);
    }
  }
}
