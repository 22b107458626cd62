package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.InputFile;
import io.firstseen.cli.shared.Json;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.jobs.files.EventFiles;
import io.firstseen.jobs.files.LineReader;
import io.firstseen.jobs.options.HashKeyOptions;
import io.firstseen.jobs.shared.UserErrorException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Tells for every key whether a snapshot holds it. */
@Command(
    name = "query",
    description = {
      "Answers for every key, in a line, whether a snapshot holds it: key TAB present|absent."
    })
final class SnapshotQueryCommand implements Callable<Integer> {

  @Mixin private SnapshotArgument snapshot;

  @Parameters(
      index = "1..*",
      paramLabel = "KEY",
      description = "Keys; - or no key means that they are read from standard input, one per line.")
  private List<String> keys = List.of();

  @Option(names = "--scope", paramLabel = "SCOPE", description = "The scope of the keys.")
  private String scope;

  @Option(names = "--json", description = "Print one JSON object per key.")
  private boolean json;

  @Mixin private HashKeyOptions hashKey;

  @Spec private CommandSpec spec;

  private OpenedSnapshots opened;
  private KeyHash keyHash;
  private byte @Nullable [] scopeBytes;

  @Override
  public Integer call() throws IOException {
    keyHash = hashKey.keyHash();
    opened = snapshot.open();
    opened.parameters().requireReadableBy(keyHash);
    scopeBytes = scope == null ? null : scope.getBytes(StandardCharsets.UTF_8);
    if (keys.isEmpty() || keys.equals(List.of(InputFile.STANDARD_INPUT))) {
      answerStandardInput();
    } else {
      for (String key : keys) {
        answer(bytesOf(key));
      }
    }
    return ExitCode.GOOD;
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
    PrintWriter out = spec.commandLine().getOut();
    LineReader lines = new LineReader(new Dialogue(System.in, out), EventFiles.MAX_LINE_BYTES);
    try {
      for (byte[] line = lines.next(); line != null; line = lines.next()) {
        answer(line);
      }
    } catch (SnapshotException e) {
      throw e;
    } catch (IOException e) {
      throw UserErrorException.cannot("read", InputFile.nameOf(InputFile.STANDARD_INPUT), e);
    }
  }

  private void answer(byte[] key) throws SnapshotException {
    boolean present = false;
    String reason = null;
    try {
      present = opened.mightContain(scopeBytes, key, keyHash);
    } catch (InvalidKeyException e) {
      // A key without a canonical form is in no set.
      reason = e.getMessage();
    }
    PrintWriter out = spec.commandLine().getOut();
    String text = new String(key, StandardCharsets.UTF_8);
    String answer = present ? "present" : "absent";
    if (json) {
      ObjectNode object = Json.object();
      object.put("key", text);
      object.put("answer", answer);
      if (reason != null) {
        object.put("reason", reason);
      }
      out.println(Json.line(object));
    } else {
      out.println(text + "\t" + answer);
    }
  }

  /** Flushes the answers before it waits for more input. */
  private static final class Dialogue extends FilterInputStream {
    private final PrintWriter answers;

    Dialogue(InputStream questions, PrintWriter answers) {
      super(questions);
      this.answers = answers;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
      // The reader of the output is gone, as with 'head': end the input.
      return answers.checkError() ? -1 : super.read(buffer, offset, length);
    }
  }
}
