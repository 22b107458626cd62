package io.firstseen.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.filters.key.Keys;
import io.firstseen.types.Operation;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;

/**
 * The demo's stream: the adds and deletes of {@code examples/phishing-domains-small.tsv.gz}, with
 * duplicates and malformed events. The stream is deterministic.
 *
 * <p>The adds and deletes of one domain are in the order of the file; domains are interleaved
 * randomly, otherwise all deletes would be at the end. Every second event is followed by a
 * duplicate: an earlier domain is added again, in a different spelling. Every tenth delete is
 * repeated. Every {@value #MALFORMED_EVERY}th event is malformed.
 */
final class SampleStream {
  /** One event in this many is malformed. */
  static final int MALFORMED_EVERY = 250;

  /** The values of malformed events, one of each kind, with a character per byte. */
  static final List<String> MALFORMED =
      List.of(
          // Truncated JSON.
          "{\"ts\":1775403029000,\"op\":\"add\",\"key\":\"exam",
          // An unknown operation.
          event("1775403029000", "upsert", "example.org"),
          // An empty key.
          event("1775403029000", "add", ""),
          // A key that is too long.
          event("1775403029000", "add", "a".repeat(Keys.MAX_KEY_BYTES + 1)),
          // No time.
          "{\"op\":\"add\",\"key\":\"example.org\"}",
          // A negative time.
          event("-1", "add", "example.org"),
          // A time too far ahead: the year 2286.
          event("9999999999999", "add", "example.org"),
          // Not UTF-8.
          "{\"ts\":1775403029000,\"op\":\"add\",\"key\":\"caf\u00e9\"}",
          // Well-formed, but its key is not a URL.
          event("1775403029000", "add", "mailto:postmaster@example.org"));

  private static final String RESOURCE = "/examples/phishing-domains-small.tsv.gz";
  private static final long SEED = 20_260_405;

  /** Matches plain host names; the few other keys of the file are skipped. */
  private static final Pattern HOST = Pattern.compile("[a-z0-9_-]+(\\.[a-z0-9_-]+)+");

  private final int partitions;
  private final Random random = new Random(SEED);
  private final List<DemoEvent> events = new ArrayList<>();
  private final List<String> seenDomains = new ArrayList<>();

  private SampleStream(int partitions) {
    this.partitions = partitions;
  }

  /**
   * Returns the stream, or its first events.
   *
   * @param partitions the number of partitions of the events topic
   * @param maxEvents the maximum number of events
   */
  static List<DemoEvent> events(int partitions, int maxEvents) throws IOException {
    SampleStream stream = new SampleStream(partitions);
    stream.generate(interleaved(history(), stream.random));
    int count = Math.min(maxEvents, stream.events.size());
    return List.copyOf(stream.events.subList(0, count));
  }

  /** The operations of every domain, in order. */
  private static Map<String, Deque<Operation>> history() throws IOException {
    // Keep the order of the file, so that random draws are reproducible.
    Map<String, Deque<Operation>> history = new LinkedHashMap<>();
    try (InputStream resource = SampleStream.class.getResourceAsStream(RESOURCE);
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(new GZIPInputStream(resource), UTF_8))) {
      for (String[] fields : lines.lines().map(line -> line.split("\t", 3)).toList()) {
        if (HOST.matcher(fields[2]).matches()) {
          history
              .computeIfAbsent(fields[2], domain -> new ArrayDeque<>())
              .add(fields[1].equals("add") ? Operation.ADD : Operation.DELETE);
        }
      }
    }
    return history;
  }

  /** The domains in the order of events, each repeated for each of its operations. */
  private static List<Map.Entry<String, Operation>> interleaved(
      Map<String, Deque<Operation>> history, Random random) {
    List<String> turns = new ArrayList<>();
    history.forEach((domain, operations) -> operations.forEach(operation -> turns.add(domain)));
    Collections.shuffle(turns, random);
    return turns.stream().map(domain -> Map.entry(domain, history.get(domain).remove())).toList();
  }

  private void generate(List<Map.Entry<String, Operation>> operations) {
    int deletes = 0;
    for (int i = 0; i < operations.size(); i++) {
      String domain = operations.get(i).getKey();
      if (operations.get(i).getValue() == Operation.ADD) {
        add(Operation.ADD, domain, domain);
        seenDomains.add(domain);
      } else {
        add(Operation.DELETE, domain, url(domain));
        if (deletes++ % 10 == 0) {
          add(Operation.DELETE, domain, domain);
        }
      }
      if (i % 2 == 1) {
        String repeated = seenDomains.get(random.nextInt(seenDomains.size()));
        add(Operation.ADD, repeated, otherSpelling(repeated));
      }
    }
  }

  private void add(Operation operation, String domain, String spelling) {
    if (events.size() % MALFORMED_EVERY == MALFORMED_EVERY - 1) {
      int number = events.size();
      String value = MALFORMED.get(number / MALFORMED_EVERY % MALFORMED.size());
      events.add(DemoEvent.malformed(number, number % partitions, value));
    }
    String url = url(domain);
    int partition = Math.floorMod(url.hashCode(), partitions);
    events.add(DemoEvent.of(events.size(), partition, operation, url, spelling));
  }

  /** The canonical form of a domain. */
  static String url(String domain) {
    return "http://" + domain + "/";
  }

  private String otherSpelling(String domain) {
    return switch (random.nextInt(6)) {
      case 0 -> "http://" + domain;
      case 1 -> "HTTP://" + domain.toUpperCase(Locale.ROOT) + "/";
      case 2 -> "http://" + domain + ":80/";
      case 3 -> "http://" + domain + "./#top";
      case 4 -> "http://user@" + domain + "/a/../";
      default -> url(domain);
    };
  }

  private static String event(String ts, String op, String key) {
    return "{\"ts\":%s,\"op\":\"%s\",\"key\":\"%s\"}".formatted(ts, op, key);
  }
}
