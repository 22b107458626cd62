package io.firstseen.benchmarks.lists;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.benchmarks.StreamFile;
import io.firstseen.benchmarks.compaction.WindowPublisher;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.UrlExpressions;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.UrlAnswer;
import io.firstseen.filters.snapshot.UrlList;
import io.firstseen.filters.snapshot.UrlLists;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Prints the cost of looking up URLs in lists, compared with an exact look-up in the same run, and
 * how often they are wrong: made-up visits to listed hosts of real streams that are missed, and
 * visits outside the list that are reported as listed. Exits with status 1 if a bound is missed.
 */
public final class ListFigures extends FiguresProgram {
  private static final KeyHash HASH = KeyHash.fixed();
  // Batches are timed by processor time: they are long enough to be interrupted.
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
  private static final int BATCH = 1_000;
  private static final int WARM_UP_ROUNDS = 2;
  private static final double SIGMAS = 4;

  /**
   * What is required.
   *
   * @param ofLookUps the time of a query relative to one exact look-up per expression and list
   * @param missed made-up visits to listed hosts that are not found
   * @param ofStated visits that are reported as listed, over what the lists state
   */
  record Bounds(double ofLookUps, double missed, double ofStated) {
    static final Bounds ASKED_FOR = new Bounds(1, 0, 1);
  }

  /** A kind of visit, as a pattern of the host. */
  private record Kind(String name, String pattern) {}

  private static final List<Kind> KINDS =
      List.of(
          new Kind("a host", "https://%s/"),
          new Kind("a page", "https://www.%s/login/page?id=7"),
          new Kind("a page, spelled otherwise", "HTTPS://WWW.%s:443/login/./%%70age?id=7#top"),
          new Kind("a deep page", "https://a.b.c.d.%s/1/2/3/4/page?id=7"),
          new Kind("a deep page with a port", "https://a.b.c.%s:8080/1/2/3/4/page?id=7"));

  @Option(
      names = "--lists",
      defaultValue = "5",
      description = "generated lists (default: ${DEFAULT-VALUE})")
  private int listCount;

  @Option(
      names = "--keys",
      defaultValue = "1000000",
      description = "entries of each (default: ${DEFAULT-VALUE})")
  private int keys;

  @Option(
      names = "--questions",
      defaultValue = "100000",
      description = "URLs asked in each round (default: ${DEFAULT-VALUE})")
  private int questions;

  @Option(
      names = "--rounds",
      defaultValue = "5",
      description = "measured rounds (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Option(
      names = "--streams",
      paramLabel = "DIR",
      description = "use the real streams (*.tsv.gz) of a directory, not the shipped one")
  private @Nullable Path streams;

  private final Bounds bounds;
  // Uses the results, so that the JIT cannot remove the measured work.
  private long used;

  ListFigures(Bounds bounds) {
    this.bounds = bounds;
  }

  public static void main(String[] arguments) {
    exit(new ListFigures(Bounds.ASKED_FOR), arguments);
  }

  @Override
  protected void measure(Path work) throws Exception {
    generated();
    if (streams == null) {
      real("shipped stream", keysOf(StreamFile.openShipped()));
    } else {
      try (Stream<Path> files = Files.list(streams)) {
        for (Path file :
            files.filter(each -> each.toString().endsWith(".tsv.gz")).sorted().toList()) {
          real(
              file.getFileName().toString().replace(".tsv.gz", ""),
              keysOf(Files.newInputStream(file)));
        }
      }
    }
    if (used == 0) {
      figures.miss();
    }
  }

  // Time

  private void generated() throws Exception {
    List<SnapshotSet> sets = new ArrayList<>();
    List<UrlList> opened = new ArrayList<>();
    for (int list = 0; list < listCount; list++) {
      int number = list;
      Stream<String> entries = IntStream.range(0, keys).mapToObj(i -> host(number, i) + "/");
      sets.add(published("list-" + list, entries));
      opened.add(UrlList.of(sets.get(list), HASH));
    }
    UrlLists lists = new UrlLists(opened, List.of());
    for (Kind kind : KINDS) {
      ask(sets, lists, kind);
    }
  }

  /** A pseudorandom domain; no two are equal. */
  private static String host(int list, int i) {
    long number = ((long) list << 32 | i) * 0x9E3779B97F4A7C15L;
    return Long.toUnsignedString(number ^ (number >>> 32), 36) + ".com";
  }

  /** The hosts of a round: every second one is listed, in one of the lists. */
  private List<String> hosts(int round) {
    return IntStream.range(0, questions)
        .mapToObj(
            i -> {
              int at = Math.floorMod((i + (long) round * questions) * 7_368_787L, keys);
              return host(i % 2 == 0 ? i / 2 % listCount : listCount + round, at);
            })
        .toList();
  }

  private void ask(List<SnapshotSet> sets, UrlLists lists, Kind kind) throws Exception {
    Latencies lookUps = new Latencies();
    Latencies keyLookUps = new Latencies();
    Latencies single = new Latencies();
    Latencies batches = new Latencies();
    long present = 0;
    UrlExpressions asked = expressions("http://a/");
    for (int round = -WARM_UP_ROUNDS; round < rounds; round++) {
      if (round == 0) {
        Stream.of(lookUps, keyLookUps, single, batches).forEach(Latencies::clear);
        present = 0;
      }
      List<String> hosts = hosts(round + WARM_UP_ROUNDS);
      List<byte[]> entries = hosts.stream().map(host -> (host + "/").getBytes(UTF_8)).toList();
      List<byte[]> urls =
          hosts.stream().map(host -> kind.pattern().formatted(host).getBytes(UTF_8)).toList();
      asked = UrlExpressions.of(urls.get(0));
      // The sets take turns.
      time(entries, lookUps, (form, i) -> sets.get(i % sets.size()).mightContain(HASH.hash(form)));
      time(urls, keyLookUps, (url, i) -> sets.get(i % sets.size()).mightContainKey(url, HASH));
      time(urls, single, (url, i) -> lists.ask(null, UrlExpressions.of(url)).isPresent());
      present += askInBatches(lists, urls, batches);
    }
    figures.title(
        "%s: %s; %d expressions, %d lists of %,d entries"
            .formatted(
                kind.name(),
                kind.pattern().formatted("HOST"),
                asked.count(),
                lists.lists().size(),
                keys));
    figures.plain(
        "exact look-up of a canonical form, with its hash, median", lookUps.median(), "ns");
    figures.plain("the same, p99", lookUps.quantile(0.99), "ns");
    figures.plain(
        "exact look-up of the URL, with its canonical form, median", keyLookUps.median(), "ns");
    figures.plain("a question, median", single.median(), "ns");
    figures.plain("a question, p99", single.quantile(0.99), "ns");
    figures.plain("a batch of %,d, median".formatted(BATCH), batches.median() / 1e6, "ms");
    figures.plain("a batch of %,d, p99".formatted(BATCH), batches.quantile(0.99) / 1e6, "ms");
    figures.plain("questions in batches", 1e9 * BATCH / batches.mean(), "URLs/s");
    int all = asked.count() * listCount;
    figures.plain(
        "a question / (look-up of a form × expressions × lists)",
        single.median() / (lookUps.median() * all),
        "");
    figures.atMost(
        "a question / (look-up of the URL × expressions × lists)",
        single.median() / (keyLookUps.median() * all),
        bounds.ofLookUps(),
        "");
    figures.atMost(
        "one in a batch / (look-up of the URL × expressions × lists)",
        batches.median() / BATCH / (keyLookUps.median() * all),
        bounds.ofLookUps(),
        "");
    // Half of the URLs are listed; others that are reported as present are wrong.
    long absent = (long) rounds * (questions / BATCH) * BATCH / 2;
    double stated = lists.falsePositiveRate(asked);
    figures.plain("stated rate of a question", 100 * stated, "%");
    wrong(kind.name(), present - absent, absent, absent * stated);
  }

  @FunctionalInterface
  private interface Question {
    boolean isPresent(byte[] key, int i) throws Exception;
  }

  /** Asks for each key, one after the other. */
  private void time(List<byte[]> keysAsked, Latencies latencies, Question question)
      throws Exception {
    int i = 0;
    for (byte[] key : keysAsked) {
      long start = System.nanoTime();
      boolean found = question.isPresent(key, i++);
      latencies.add(System.nanoTime() - start);
      used += found ? 1 : 0;
    }
  }

  private static long askInBatches(UrlLists lists, List<byte[]> urls, Latencies latencies)
      throws InvalidKeyException {
    long present = 0;
    for (int from = 0; from + BATCH <= urls.size(); from += BATCH) {
      long start = THREADS.getCurrentThreadCpuTime();
      List<UrlExpressions> asked = new ArrayList<>(BATCH);
      for (byte[] url : urls.subList(from, from + BATCH)) {
        asked.add(UrlExpressions.of(url));
      }
      List<UrlAnswer> answers = lists.askEach(null, asked);
      latencies.add(THREADS.getCurrentThreadCpuTime() - start);
      present += answers.stream().filter(UrlAnswer::isPresent).count();
    }
    return present;
  }

  private void wrong(String name, long wrong, long asked, double stated) {
    figures.plain("reported as listed", 100.0 * wrong / asked, "%");
    figures.atMost(
        "%s: %,d of %,d reported as listed".formatted(name, wrong, asked),
        (double) wrong,
        bounds.ofStated() * (stated + SIGMAS * Math.sqrt(stated)),
        "");
  }

  // Real streams

  private static Set<String> keysOf(InputStream compressed) throws IOException {
    Set<String> keys = new TreeSet<>();
    StreamFile.read(compressed, event -> keys.add(event.key()));
    return keys;
  }

  private void real(String name, Set<String> streamKeys) throws Exception {
    Set<String> hosts = new TreeSet<>();
    int others = 0;
    for (String key : streamKeys) {
      try {
        String form = canonical(key);
        if (form.indexOf('/') == form.length() - 1 && form.indexOf(':') < 0) {
          hosts.add(form.substring(0, form.length() - 1));
        } else {
          others++;
        }
      } catch (InvalidKeyException e) {
        others++;
      }
    }
    figures.title("%s: %,d hosts, %,d other keys".formatted(name, hosts.size(), others));
    asHosts(name, hosts);
    asUrls(name, hosts);
  }

  private static String canonical(String key) throws InvalidKeyException {
    return new String(Canonicaliser.URL_EXPRESSION.canonicalise(key.getBytes(UTF_8)), UTF_8);
  }

  /** Every second host is listed; all visits to it must be found. */
  private void asHosts(String name, Set<String> hosts) throws Exception {
    Set<String> listed = everySecond(hosts, "/");
    UrlLists lists = listOf(listed);
    long visits = 0;
    long missed = 0;
    for (String entry : listed) {
      String host = entry.substring(0, entry.length() - 1);
      List<UrlAnswer> answers = lists.askEach(null, expressions(MadeUpVisits.to(host)));
      visits += answers.size();
      missed += answers.stream().filter(answer -> !answer.isPresent()).count();
    }
    figures.atMost(
        "made-up visits to listed hosts, %,d: missed".formatted(visits),
        (double) missed,
        bounds.missed(),
        "");
    beside(name + ", hosts", lists, listed, hosts);
  }

  /** The same with a URL of each host listed, which must be found in other spellings. */
  private void asUrls(String name, Set<String> hosts) throws Exception {
    Set<String> listed = everySecond(hosts, "/login/index.php?id=1");
    UrlLists lists = listOf(listed);
    long missed = 0;
    for (String entry : listed) {
      String host = entry.substring(0, entry.indexOf('/'));
      for (String pattern :
          List.of("https://%s/login/index.php?id=1", "HTTP://%s.:80/a/../login/index.php?id=1#x")) {
        missed += lists.ask(null, expressions(pattern.replace("%s", host))).isPresent() ? 0 : 1;
      }
    }
    figures.atMost(
        "visits to listed URLs, %,d: missed".formatted(2L * listed.size()),
        (double) missed,
        bounds.missed(),
        "");
    beside(name + ", URLs", lists, listed, hosts);
  }

  private static Set<String> everySecond(Set<String> hosts, String path) {
    Set<String> entries = new TreeSet<>();
    int i = 0;
    for (String host : hosts) {
      if (i++ % 2 == 0) {
        entries.add(host + path);
      }
    }
    return entries;
  }

  private static SnapshotSet published(String name, Stream<String> entries) throws Exception {
    try (WindowPublisher publisher =
        WindowPublisher.ofKeys(name, Canonicaliser.URL_EXPRESSION, entries)) {
      return SnapshotSet.open(publisher.manifest(), publisher.loader());
    }
  }

  private static UrlLists listOf(Set<String> entries) throws Exception {
    SnapshotSet set = published("real", entries.stream());
    return new UrlLists(List.of(UrlList.of(set, HASH)), List.of());
  }

  private static UrlExpressions expressions(String url) {
    try {
      return UrlExpressions.of(url.getBytes(UTF_8));
    } catch (InvalidKeyException e) {
      throw new IllegalStateException(url, e);
    }
  }

  private static List<UrlExpressions> expressions(List<String> urls) {
    return urls.stream().map(ListFigures::expressions).toList();
  }

  /**
   * Visits that no entry lists. Of the hosts below one registrable domain only one is queried: they
   * share expressions, and so errors.
   */
  private void beside(String name, UrlLists lists, Set<String> listed, Set<String> hosts)
      throws InvalidKeyException {
    Set<String> domains = new HashSet<>();
    List<UrlExpressions> asked = new ArrayList<>();
    double stated = 0;
    for (String host : hosts) {
      UrlExpressions url = expressions("https://" + host + "/account/verify.php?user=7");
      List<String> all = url.asList();
      if (all.stream().noneMatch(listed::contains) && domains.add(all.get(all.size() - 1))) {
        asked.add(url);
        stated += lists.falsePositiveRate(url);
      }
    }
    long wrong = lists.askEach(null, asked).stream().filter(UrlAnswer::isPresent).count();
    figures.plain("stated rate of a query outside the list", 100 * stated / asked.size(), "%");
    wrong(name, wrong, asked.size(), stated);
  }

  private static final class Latencies {
    private long[] nanos = new long[1 << 16];
    private int count;

    void add(long duration) {
      if (count == nanos.length) {
        nanos = Arrays.copyOf(nanos, 2 * count);
      }
      nanos[count++] = duration;
    }

    void clear() {
      count = 0;
    }

    /** The duration that a share of all calls, in (0, 1], does not exceed. */
    double quantile(double share) {
      long[] sorted = Arrays.copyOf(nanos, count);
      Arrays.sort(sorted);
      return sorted[(int) Math.ceil(share * count) - 1];
    }

    double median() {
      return quantile(0.5);
    }

    double mean() {
      return Arrays.stream(nanos, 0, count).average().orElse(Double.NaN);
    }
  }
}
