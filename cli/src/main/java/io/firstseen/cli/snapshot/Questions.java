package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.InputFile;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.jobs.files.EventFiles;
import io.firstseen.jobs.files.LineReader;
import io.firstseen.jobs.shared.UserErrorException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * The questions of a verb: words of its command line, or the lines of standard input. Lines that
 * come together are answered together, and all of them before the verb waits for more.
 */
final class Questions {

  /** Answers questions. */
  interface Answers {
    /** Prints the answers, in the order of the questions. */
    void print(List<byte[]> questions) throws SnapshotException;
  }

  private final List<byte[]> waiting = new ArrayList<>();
  private final Answers answers;
  private final PrintWriter out;

  private Questions(Answers answers, PrintWriter out) {
    this.answers = answers;
    this.out = out;
  }

  /**
   * Answers the words, or standard input if there are none or only a {@code -}.
   *
   * @param out where the answers are printed
   * @throws UserErrorException if standard input cannot be read, or the locale's encoding has lost
   *     a part of a word
   */
  static void answer(List<String> words, PrintWriter out, Answers answers)
      throws SnapshotException {
    if (words.isEmpty() || words.equals(List.of(InputFile.STANDARD_INPUT))) {
      new Questions(answers, out).answerStandardInput();
    } else {
      answers.print(words.stream().map(Questions::bytesOf).toList());
    }
  }

  /**
   * The bytes of a key on the command line.
   *
   * @throws UserErrorException if the locale's encoding has lost some of them
   */
  static byte[] bytesOf(String key) {
    String encoding = System.getProperty("sun.jnu.encoding", "UTF-8");
    if (key.indexOf('\uFFFD') >= 0 && !encoding.equalsIgnoreCase("UTF-8")) {
      // Java has replaced undecodable bytes by U+FFFD; the answer would be wrong.
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
    answers.print(waiting);
    waiting.clear();
  }

  /** Answers all lines that were read, and flushes the answers, before it waits for more. */
  private final class Dialogue extends FilterInputStream {
    Dialogue(InputStream input) {
      super(input);
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
      answerWaiting();
      // The reader of the output is gone, as with 'head': end the input.
      return out.checkError() ? -1 : super.read(buffer, offset, length);
    }
  }
}
