package io.firstseen.jobs.files;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.near.NearMatch;
import io.firstseen.jobs.shared.Duplicates;
import io.firstseen.jobs.shared.OutcomeSinks;
import io.firstseen.jobs.shared.SingleTask;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * Outcomes as files of lines, for a bounded job that reads events from a file of the same format.
 * The files appear when the job has read its whole input. A job that fails earlier leaves no files
 * except possibly the dead letters; a job that fails later, while it writes snapshots, leaves
 * complete files.
 *
 * <ul>
 *   <li>accepted: the changelog. Each line is copied from the input: for {@code lines} the accepted
 *       keys, otherwise an add per accepted key and a delete per deleted key.
 *   <li>duplicates: in the same format, adds of keys that were live and deletes of keys that were
 *       not live.
 *   <li>matches: for each text that is added, its match, the number of equal bands, and its line,
 *       separated by tabs.
 *   <li>dead letters: lines of {@link DeadLetterFile}, in any format.
 * </ul>
 *
 * <p>Lines of one key are in the order of its events. If the file system fails, methods throw a
 * {@link UserErrorException}.
 */
public final class OutcomeFiles {

  private OutcomeFiles() {}

  /**
   * Checks that the files can be written.
   *
   * @param format the format of the input
   * @throws UserErrorException if a file cannot be written, or two outputs have the same file
   */
  public static OutcomeSinks sinks(
      FileFormat format, Path accepted, Optional<Path> duplicates, Optional<Path> deadLetters) {
    return sinks(format, accepted, duplicates, deadLetters, Optional.empty());
  }

  /**
   * Checks that the files can be written.
   *
   * @param format the format of the input
   * @param matches only for a job in which near-duplicates are duplicates
   * @throws UserErrorException if a file cannot be written, or two outputs have the same file
   */
  public static OutcomeSinks sinks(
      FileFormat format,
      Path accepted,
      Optional<Path> duplicates,
      Optional<Path> deadLetters,
      Optional<Path> matches) {
    Set<Path> named = new HashSet<>();
    return new OutcomeSinks(
        new DecidedSink(
            format,
            name(accepted, named),
            duplicates.map(file -> name(file, named)).orElse(null),
            matches.map(file -> name(file, named)).orElse(null)),
        duplicates.isPresent() || matches.isPresent() ? Duplicates.TOPIC : Duplicates.NONE,
        deadLetters
            .<Sink<Outcome>>map(file -> new DeadLetterSink(format, name(file, named)))
            .orElseGet(DiscardingSink::new));
  }

  private static String name(Path file, Set<Path> named) {
    Path absolute = OutputFile.requireWritable(file).normalize();
    if (!named.add(absolute) && !OutputFile.isDirect(absolute)) {
      throw new UserErrorException(file + " cannot be two outputs at once");
    }
    return absolute.toString();
  }

  private static final class DecidedSink implements Sink<Outcome>, SingleTask {
    private static final long serialVersionUID = 1;

    private final FileFormat format;
    private final String accepted;
    private final @Nullable String duplicates;
    private final @Nullable String matches;

    DecidedSink(
        FileFormat format, String accepted, @Nullable String duplicates, @Nullable String matches) {
      this.format = format;
      this.accepted = accepted;
      this.duplicates = duplicates;
      this.matches = matches;
    }

    @Override
    public SinkWriter<Outcome> createWriter(WriterInitContext context) throws IOException {
      requireOneTask(context);
      DecidedWriter writer = new DecidedWriter(format);
      try {
        writer.open(accepted, duplicates, matches);
      } catch (RuntimeException e) {
        writer.close();
        throw e;
      }
      return writer;
    }
  }

  private static void requireOneTask(WriterInitContext context) {
    if (context.getTaskInfo().getNumberOfParallelSubtasks() != 1) {
      throw new IllegalStateException("files of outcomes must be written by one task");
    }
  }

  private static final class DecidedWriter implements SinkWriter<Outcome> {
    private final FileFormat format;
    private @Nullable OutputFile acceptedFile;
    private @Nullable OutputFile duplicatesFile;
    private @Nullable OutputFile matchesFile;

    DecidedWriter(FileFormat format) {
      this.format = format;
    }

    void open(String accepted, @Nullable String duplicates, @Nullable String matches) {
      acceptedFile = new OutputFile(Path.of(accepted));
      duplicatesFile = duplicates == null ? null : new OutputFile(Path.of(duplicates));
      matchesFile = matches == null ? null : new OutputFile(Path.of(matches));
    }

    @Override
    public void write(Outcome outcome, Context context) {
      OutputFile file =
          switch (outcome.kind()) {
            case ACCEPTED, REMOVED -> acceptedFile;
            case DUPLICATE, FALSE_DUPLICATE, UNKNOWN_DELETE -> duplicatesFile;
            case DEAD_LETTER, WRITTEN -> throw new IllegalArgumentException(outcome.toString());
          };
      if (file != null) {
        file.line(format.write(outcome.event()));
      }
      NearMatch match = outcome.match();
      if (matchesFile != null && match != null) {
        String text = match.text().isEmpty() ? "-" : match.text();
        matchesFile.line(
            (text + '\t' + match.bands() + '\t').getBytes(UTF_8), format.write(outcome.event()));
      }
    }

    @Override
    public void flush(boolean endOfInput) {
      if (endOfInput) {
        if (duplicatesFile != null) {
          duplicatesFile.complete();
        }
        if (matchesFile != null) {
          matchesFile.complete();
        }
        acceptedFile.complete();
      }
    }

    @Override
    public void close() throws IOException {
      try {
        IOUtils.closeAll(acceptedFile, duplicatesFile, matchesFile);
      } catch (IOException | RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IOException(e);
      }
    }
  }

  private static final class DeadLetterSink implements Sink<Outcome>, SingleTask {
    private static final long serialVersionUID = 1;

    private final FileFormat format;
    private final String file;

    DeadLetterSink(FileFormat format, String file) {
      this.format = format;
      this.file = file;
    }

    @Override
    public SinkWriter<Outcome> createWriter(WriterInitContext context) {
      requireOneTask(context);
      return new DeadLetterWriter(new DeadLetterFile(Path.of(file), format::write));
    }
  }

  private static final class DeadLetterWriter implements SinkWriter<Outcome> {
    private final DeadLetterFile file;

    DeadLetterWriter(DeadLetterFile file) {
      this.file = file;
    }

    @Override
    public void write(Outcome outcome, Context context) {
      file.write(outcome.event(), outcome.reason());
    }

    @Override
    public void flush(boolean endOfInput) {
      if (endOfInput) {
        file.complete();
      }
    }

    @Override
    public void close() throws IOException {
      file.close();
    }
  }
}
