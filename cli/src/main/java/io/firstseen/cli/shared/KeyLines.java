package io.firstseen.cli.shared;

import static io.firstseen.cli.shared.SnapshotSummary.number;
import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.firstseen.events.KeyLine;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.jobs.files.DeadLetterFile;
import io.firstseen.jobs.files.EventFiles;
import io.firstseen.jobs.files.LineReader;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.Place;
import io.firstseen.serializers.SourceEvent;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The keys in a file, one per line. Lines without a usable key are skipped and counted. */
public final class KeyLines {
  private static final int MAX_REPORTED_UNUSABLE = 5;

  private final String pathOrDash;
  private final Canonicaliser canonicaliser;
  private final PrintWriter err;

  private final int column;
  private final @Nullable DeadLetterFile deadLetters;

  private long lineCount;
  private long usableCount;
  private long unusableCount;
  private final List<String> reportedUnusable = new ArrayList<>();

  /** The keys of an {@link InputFile}; column 0 stands for whole lines. */
  public KeyLines(
      String pathOrDash,
      Canonicaliser canonicaliser,
      int column,
      @Nullable DeadLetterFile deadLetters,
      PrintWriter err) {
    this.pathOrDash = pathOrDash;
    this.canonicaliser = canonicaliser;
    this.column = column;
    this.deadLetters = deadLetters;
    this.err = err;
  }

  /** Reads all keys, in their joined canonical form. */
  public void forEach(Consumer<byte[]> receiver) {
    Path name = InputFile.nameOf(pathOrDash);
    try (InputStream stream = InputFile.openText(pathOrDash);
        Progress progress = new Progress(err)) {
      LineReader lines = new LineReader(stream, EventFiles.MAX_LINE_BYTES);
      for (byte[] line = lines.next(); line != null; line = lines.next()) {
        lineCount++;
        progress.show(() -> number(lineCount) + " lines");
        if (KeyLine.isBlankOrComment(line, canonicaliser)) {
          continue;
        }
        byte[] key;
        try {
          key = ScopedKey.join(null, canonicaliser.canonicalise(key(line)));
        } catch (InvalidKeyException e) {
          unusable(name, line, e.getMessage());
          continue;
        }
        usableCount++;
        receiver.accept(key);
      }
    } catch (IOException e) {
      throw UserErrorException.cannot("read", name, e);
    }
  }

  private byte[] key(byte[] line) throws InvalidKeyException {
    if (column == 0) {
      Optional<String> problem = KeyLine.problem(line, canonicaliser);
      if (problem.isPresent()) {
        throw new InvalidKeyException(problem.get());
      }
      return line;
    }
    String[] columns = new String(line, ISO_8859_1).split("\t", -1);
    if (columns.length < column) {
      throw new InvalidKeyException(
          "the line has %d tab-separated columns, --column is %d"
              .formatted(columns.length, column));
    }
    return columns[column - 1].getBytes(ISO_8859_1);
  }

  private void unusable(Path name, byte[] line, String problem) {
    unusableCount++;
    if (reportedUnusable.size() < MAX_REPORTED_UNUSABLE) {
      reportedUnusable.add(name + ":" + lineCount + ": " + problem);
    }
    if (deadLetters != null) {
      Place place = Place.of(name.getFileName() + ":" + lineCount);
      deadLetters.write(SourceEvent.malformed(problem, line, place), problem);
    }
  }

  /** Fails, after the warning about the first lines, if no line is a usable key. */
  public void requireUsable() {
    if (usableCount == 0) {
      warnOfUnusable();
      throw new UserErrorException(
          "none of the %s lines of %s holds a usable key"
              .formatted(number(lineCount), InputFile.nameOf(pathOrDash)));
    }
  }

  public long lineCount() {
    return lineCount;
  }

  /** The number of rejected lines so far: no blank lines, and no comments of lists. */
  public long unusableCount() {
    return unusableCount;
  }

  public void warnOfUnusable() {
    if (unusableCount > 0) {
      err.printf(
          "warning: %s of %s lines have no usable key and were skipped%s%n",
          number(unusableCount),
          number(lineCount),
          unusableCount > reportedUnusable.size() ? ", the first ones:" : ":");
      reportedUnusable.forEach(err::println);
    }
  }
}
