package io.firstseen.jobs.files;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.serializers.SourceEvent;
import java.nio.file.Path;
import java.util.function.Function;

/** Unusable events, one per line: {@code place TAB reason TAB raw bytes}. */
public final class DeadLetterFile extends OutputFile {
  private static final byte[] NOTHING = {};

  private final Function<SourceEvent, byte[]> raw;

  /**
   * Opens the file like {@link OutputFile}.
   *
   * @param raw returns the input bytes of a well-formed event
   */
  public DeadLetterFile(Path file, Function<SourceEvent, byte[]> raw) {
    super(file);
    this.raw = raw;
  }

  /** Writes an event and the reason why it is unusable. */
  public void write(SourceEvent event, String reason) {
    line(line(event, reason, raw));
  }

  static byte[][] line(SourceEvent event, String reason, Function<SourceEvent, byte[]> raw) {
    byte[] bytes = event.isWellFormed() ? raw.apply(event) : event.payload();
    return new byte[][] {
      (event.place() + "\t" + reason + "\t").getBytes(UTF_8), bytes == null ? NOTHING : bytes
    };
  }
}
