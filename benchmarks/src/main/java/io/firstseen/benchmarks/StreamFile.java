package io.firstseen.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import java.util.zip.GZIPInputStream;

/** A compressed stream of events, a line each: {@code epochSeconds TAB add|del TAB key}. */
public final class StreamFile {
  /** The stream that the demo sends. */
  private static final String SHIPPED = "/examples/phishing-domains-small.tsv.gz";

  private StreamFile() {}

  /**
   * A line.
   *
   * @param adds whether it adds the key, or deletes it
   */
  public record Event(long epochSeconds, boolean adds, String key) {}

  public static InputStream openShipped() {
    return StreamFile.class.getResourceAsStream(SHIPPED);
  }

  public static void read(InputStream compressed, Consumer<Event> consumer) throws IOException {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(new GZIPInputStream(compressed), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] fields = line.split("\t", 3);
        consumer.accept(new Event(Long.parseLong(fields[0]), fields[1].equals("add"), fields[2]));
      }
    }
  }
}
