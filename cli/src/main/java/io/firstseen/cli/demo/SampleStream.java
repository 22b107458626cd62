package io.firstseen.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

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
 * repeats and malformed events among them. It is the same whenever it is made.
 *
 * <p>The adds and deletes of one domain come in the order of the file; domains are interleaved at
 * random, or the deletes would all come last. After every second of them comes a repeat: one of the
 * domains that came before is added again, in another spelling. Every tenth delete comes twice.
 * Every {@value #MALFORMED_EVERY}th event is malformed.
 */
final class SampleStream {
  /** How often an event is malformed. */
  static final int MALFORMED_EVERY = 250;

  private static final String RESOURCE = "/examples/phishing-domains-small.tsv.gz";
  private static final long SEED = 20_260_405;

  /** The few keys of the file that are no plain host names are left out. */
  private static final Pattern HOST = Pattern.compile("[a-z0-9_-]+(\\.[a-z0-9_-]+)+");

  private final int partitions;
  private final Random random = new Random(SEED);
  private final List<DemoEvent> events = new ArrayList<>();
  private final List<String> seenDomains = new ArrayList<>();

  private SampleStream(int partitions) {
    this.partitions = partitions;
  }

  /**
   * The stream, or its beginning.
   *
   * @param partitions of the events topic
   * @param maxEvents how many events are wanted; there may be fewer
   */
  static List<DemoEvent> events(int partitions, int maxEvents) throws IOException {
    SampleStream stream = new SampleStream(partitions);
    stream.generate(interleaved(history(), stream.random));
    int count = Math.min(maxEvents, stream.events.size());
    return List.copyOf(stream.events.subList(0, count));
  }

  /** For every domain its operations, in order. */
  private static Map<String, Deque<Operation>> history() throws IOException {
    // In the order of the file, so that what is drawn at random is the same each time.
    Map<String, Deque<Operation>> history = new LinkedHashMap<>();
    try (InputStream resource = SampleStream.class.getResourceAsStream(RESOURCE);
        BufferedReader lines =
            new BufferedReader(new InputStreamReader(new GZIPInputStream(resource), UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        String[] fields = line.split("\t", 3);
        if (HOST.matcher(fields[2]).matches()) {
          history
              .computeIfAbsent(fields[2], domain -> new ArrayDeque<>())
              .add(fields[1].equals("add") ? Operation.ADD : Operation.DELETE);
        }
      }
    }
    return history;
  }

  /** Domains in the order of events, each as often as it has operations. */
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
      byte[] bytes = MalformedEvents.get(number / MALFORMED_EVERY);
      events.add(DemoEvent.malformed(number, number % partitions, bytes));
    }
    String url = url(domain);
    int partition = Math.floorMod(url.hashCode(), partitions);
    events.add(DemoEvent.of(events.size(), partition, operation, url, spelling));
  }

  /** The form that all spellings of a domain share. */
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
}
