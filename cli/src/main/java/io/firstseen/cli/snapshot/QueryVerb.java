package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.InputFile;
import io.firstseen.cli.shared.JsonVerb;
import io.firstseen.cli.shared.TrustedKeyOptions;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.jobs.files.EventFiles;
import io.firstseen.jobs.files.LineReader;
import io.firstseen.jobs.options.HashKeyOptions;
import io.firstseen.operators.UserErrorException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Looks up words, or lines of standard input, which are answered before more input is read. */
abstract class QueryVerb extends JsonVerb {

  @Mixin SnapshotArgument snapshot;

  @Option(
      names = "--scope",
      paramLabel = "SCOPE",
      description =
          "Scope of the keys. Snapshots do not record scopes: without it, a key with a "
              + "scope is absent.")
  private String scope;

  @Mixin HashKeyOptions hashKey;

  @Mixin TrustedKeyOptions trusted;

  private final List<byte[]> waiting = new ArrayList<>();
  private int invalid;

  /** Prints the results of queries, in their order. */
  abstract void answer(List<byte[]> queries) throws SnapshotException;

  final byte @Nullable [] scope() {
    return scope == null ? null : scope.getBytes(StandardCharsets.UTF_8);
  }

  /** Looks up the words, or standard input for none or {@code -}; returns the exit code. */
  final int answerAll(List<String> words) throws SnapshotException {
    if (words.isEmpty() || words.equals(List.of(InputFile.STANDARD_INPUT))) {
      answerStandardInput();
    } else {
      words.forEach(word -> waiting.add(bytesOf(word)));
      answerWaiting();
    }
    if (invalid == 0) {
      return ExitCode.GOOD;
    }
    out().flush();
    err()
        .printf(
            "invalid: %d could not be evaluated, so whether they are present is unknown%n",
            invalid);
    return ExitCode.INVALID_QUERY;
  }

  /** Prints and counts a query that could not be evaluated. */
  final void printInvalid(ObjectNode object, String text, String reason) {
    print(
        object.put("answer", "invalid").put("reason", reason),
        text + "\tinvalid\t" + field(reason));
    invalid++;
  }

  static String field(String text) {
    return text.replaceAll("[\\t\\r\\n]", " ");
  }

  static byte[] bytesOf(String key) {
    String encoding = System.getProperty("sun.jnu.encoding", "UTF-8");
    if (key.indexOf('\uFFFD') >= 0 && !encoding.equalsIgnoreCase("UTF-8")) {
      // Java has replaced undecodable bytes with U+FFFD; the result would be wrong.
      throw new UserErrorException(
          "this locale (%s) cannot carry the key '%s'; set LC_ALL=C.UTF-8, or give keys on standard input"
              .formatted(encoding, key));
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
    answer(waiting);
    waiting.clear();
  }

  /** Flushes the results of all lines that were read before it waits for more input. */
  private final class Dialogue extends FilterInputStream {
    Dialogue(InputStream input) {
      super(input);
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
      answerWaiting();
      // The reader has closed the pipe, like 'head': end the input.
      return out().checkError() ? -1 : super.read(buffer, offset, length);
    }
  }
}
