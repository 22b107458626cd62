package io.firstseen.jobs.files;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.near.NearMatch;
import io.firstseen.jobs.shared.Duplicates;
import io.firstseen.jobs.shared.JobSink;
import io.firstseen.jobs.shared.OutcomeSinks;
import io.firstseen.operators.UserErrorException;
import io.firstseen.serializers.Outcome;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.util.IOUtils;
import org.apache.kafka.common.utils.Utils;
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
    LinkedHashMap<Content, String> decided = new LinkedHashMap<>();
    String changes = checked(accepted, named);
    duplicates.ifPresent(file -> decided.put(Content.DUPLICATES, checked(file, named)));
    matches.ifPresent(file -> decided.put(Content.MATCHES, checked(file, named)));
    // The last file to appear.
    decided.put(Content.ACCEPTED, changes);
    return new OutcomeSinks(
        new FilesSink(format, decided),
        decided.size() > 1 ? Duplicates.TOPIC : Duplicates.NONE,
        deadLetters
            .map(file -> Map.of(Content.DEAD_LETTERS, checked(file, named)))
            .<JobSink<Outcome>>map(files -> new FilesSink(format, files))
            .orElse((outcomes, uid) -> outcomes.sinkTo(new DiscardingSink<>()).name(uid).uid(uid)));
  }

  private static String checked(Path file, Set<Path> named) {
    Path absolute = OutputFile.requireWritable(file).normalize();
    if (!named.add(absolute) && !OutputFile.isDirect(absolute)) {
      throw new UserErrorException(file + " cannot be two outputs at once");
    }
    return absolute.toString();
  }

  private enum Content {
    ACCEPTED,
    DUPLICATES,
    MATCHES,
    DEAD_LETTERS;

    /** The parts of the line of an outcome; null if the file does not contain the outcome. */
    byte @Nullable [][] line(Outcome outcome, FileFormat format) {
      NearMatch match = outcome.match();
      return switch (this) {
        case ACCEPTED -> isChange(outcome) ? line(format.write(outcome.event())) : null;
        case DUPLICATES -> isChange(outcome) ? null : line(format.write(outcome.event()));
        case MATCHES ->
            match == null
                ? null
                : line(
                    (match.text().isEmpty() ? "-" : match.text()).getBytes(UTF_8),
                    ("\t" + match.bands() + "\t").getBytes(UTF_8),
                    format.write(outcome.event()));
        case DEAD_LETTERS -> DeadLetterFile.line(outcome.event(), outcome.reason(), format::write);
      };
    }

    private static byte[][] line(byte[]... parts) {
      return parts;
    }

    private static boolean isChange(Outcome outcome) {
      return outcome.kind() == Outcome.Kind.ACCEPTED || outcome.kind() == Outcome.Kind.REMOVED;
    }
  }

  private record FilesSink(FileFormat format, Map<Content, String> outputs)
      implements JobSink.OfOneTask<Outcome> {
    @Override
    public SinkWriter<Outcome> createWriter(WriterInitContext context) {
      if (context.getTaskInfo().getNumberOfParallelSubtasks() != 1) {
        throw new IllegalStateException("files of outcomes must be written by one task");
      }
      Map<Content, OutputFile> files = new LinkedHashMap<>();
      try {
        outputs.forEach((content, file) -> files.put(content, new OutputFile(Path.of(file))));
      } catch (RuntimeException e) {
        IOUtils.closeAllQuietly(files.values());
        throw e;
      }
      return new FilesWriter(format, files);
    }
  }

  private record FilesWriter(FileFormat format, Map<Content, OutputFile> files)
      implements SinkWriter<Outcome> {
    @Override
    public void write(Outcome outcome, Context context) {
      files.forEach(
          (content, file) -> {
            byte[][] line = content.line(outcome, format);
            if (line != null) {
              file.line(line);
            }
          });
    }

    @Override
    public void flush(boolean endOfInput) {
      if (endOfInput) {
        files.values().forEach(OutputFile::complete);
      }
    }

    @Override
    public void close() throws IOException {
      Utils.closeAll(files.values().toArray(OutputFile[]::new));
    }
  }
}
