package io.firstseen.jobs.files;

import io.firstseen.jobs.shared.SingleTask;
import io.firstseen.jobs.shared.UserErrorException;
import io.firstseen.serializers.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.util.IOUtils;

/**
 * Outcomes as files of lines, for a bounded job whose events come from a file of the same format.
 * The files appear when the job has read its whole input. A job that fails before leaves no files;
 * a job that fails later, writing snapshots, leaves complete ones.
 *
 * <ul>
 *   <li>accepted: the changelog. Each line is copied from the input: for {@code lines} the accepted
 *       keys, otherwise an add for each accepted key and a delete for each removed key.
 *   <li>duplicates: in the same form, adds of keys that were live, deletes of keys that were not.
 *   <li>dead letters: lines of {@link DeadLetterFile}, in any format.
 * </ul>
 *
 * <p>Lines of one key are in the order of its events. A failure of the file system is a {@link
 * UserErrorException}.
 */
public final class OutcomeFiles implements Sink<Outcome>, SingleTask {
  private static final long serialVersionUID = 1;

  private final FileFormat format;
  private final String accepted;
  private final String duplicates;
  private final String deadLetters;

  /**
   * Checks that the files can be written.
   *
   * @param format the format of the input
   * @throws UserErrorException if a file cannot be written, or one is named twice
   */
  public OutcomeFiles(
      FileFormat format, Path accepted, Optional<Path> duplicates, Optional<Path> deadLetters) {
    this.format = format;
    Set<Path> named = new HashSet<>();
    this.accepted = name(accepted, named);
    this.duplicates = duplicates.map(file -> name(file, named)).orElse(null);
    this.deadLetters = deadLetters.map(file -> name(file, named)).orElse(null);
  }

  private static String name(Path file, Set<Path> named) {
    Path absolute = OutputFile.requireWritable(file).normalize();
    if (!named.add(absolute) && !OutputFile.isDirect(absolute)) {
      throw new UserErrorException(file + " cannot be two outputs at once");
    }
    return absolute.toString();
  }

  @Override
  public SinkWriter<Outcome> createWriter(WriterInitContext context) throws IOException {
    if (context.getTaskInfo().getNumberOfParallelSubtasks() != 1) {
      throw new IllegalStateException("files of outcomes must be written by one task");
    }
    Writer writer = new Writer();
    try {
      writer.open();
    } catch (RuntimeException e) {
      writer.close();
      throw e;
    }
    return writer;
  }

  private final class Writer implements SinkWriter<Outcome> {
    private OutputFile acceptedFile;
    private OutputFile duplicatesFile;
    private DeadLetterFile deadLettersFile;

    void open() {
      acceptedFile = new OutputFile(Path.of(accepted));
      duplicatesFile = duplicates == null ? null : new OutputFile(Path.of(duplicates));
      deadLettersFile =
          deadLetters == null ? null : new DeadLetterFile(Path.of(deadLetters), format::write);
    }

    @Override
    public void write(Outcome outcome, Context context) {
      switch (outcome.kind()) {
        case ACCEPTED, REMOVED -> acceptedFile.line(format.write(outcome.event()));
        case DUPLICATE, FALSE_DUPLICATE, UNKNOWN_DELETE -> {
          if (duplicatesFile != null) {
            duplicatesFile.line(format.write(outcome.event()));
          }
        }
        case DEAD_LETTER -> {
          if (deadLettersFile != null) {
            deadLettersFile.write(outcome.event(), outcome.reason());
          }
        }
      }
    }

    @Override
    public void flush(boolean endOfInput) {
      if (endOfInput) {
        if (deadLettersFile != null) {
          deadLettersFile.complete();
        }
        if (duplicatesFile != null) {
          duplicatesFile.complete();
        }
        acceptedFile.complete();
      }
    }

    @Override
    public void close() throws IOException {
      try {
        IOUtils.closeAll(acceptedFile, duplicatesFile, deadLettersFile);
      } catch (IOException | RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IOException(e);
      }
    }
  }
}
