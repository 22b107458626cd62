package io.firstseen.cli.report;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Fields;
import io.firstseen.cli.shared.InputFile;
import io.firstseen.cli.shared.KeyLines;
import io.firstseen.cli.shared.Progress;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.cli.shared.Verb;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.jobs.files.OutputFile;
import io.firstseen.jobs.options.DeclaredOptions;
import io.firstseen.jobs.options.KeyOptions;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.UserErrorException;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Compares exact sets and filters on this machine, on the user's keys or on generated ones. */
@Command(
    name = "membership",
    footer = {
      "  firstseen report membership",
      "  firstseen report membership --input keys.txt --fpr 0.01,0.001",
      "  firstseen report membership --keys 100000 --probes 1000000 --svg rates.svg"
    },
    modelTransformer = DeclaredOptions.class,
    description = {
      "Compares sets of keys on this machine: an exact hash set, a hash set of shortened "
          + "keys, a Bloom filter, a cuckoo filter and a Golomb-coded set.",
      "For each set, the command shows the bits per key, the measured and the predicted "
          + "false-positive rate, and the time per operation."
    })
final class ReportMembershipCommand extends Verb {
  private static final long DEFAULT_KEYS = 1_000_000;
  private static final long SEED = 20261121;

  /** The maximum share of the heap that a comparison may use. */
  private static final double HEAP_SHARE = 0.85;

  private static final long MEBI = 1 << 20;

  @Option(
      names = "--input",
      paramLabel = "KEYS",
      description =
          "File with one key per line, decompressed if it is in gzip format; - reads standard "
              + "input. Without it, keys are generated.")
  private String input;

  @Option(
      names = "--keys",
      paramLabel = "N",
      converter = OptionValues.KeyCount.class,
      description = "Number of keys to generate (default: 1000000).")
  private Long keyCount;

  @Option(
      names = "--fpr",
      split = ",",
      defaultValue = "0.01,0.001,0.0001",
      description = "False-positive rates of the sets, in (0, 0.1] (default: ${DEFAULT-VALUE}).")
  private List<Double> falsePositiveRates;

  @Option(
      names = "--probes",
      paramLabel = "N",
      defaultValue = "4000000",
      converter = ProbeCount.class,
      description =
          "Number of keys outside the sets with which each set is queried (default: "
              + "${DEFAULT-VALUE}).")
  private int probes;

  @Option(
      names = "--svg",
      paramLabel = "FILE",
      description = "Output file of a plot of the rate over the bits per key.")
  private Path svg;

  @Mixin private KeyOptions keyOptions;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  /** The bytes of the distinct keys that were read so far. */
  private long keyBytes;

  @Override
  public Integer call() throws Exception {
    return Cleanup.after(this::compare);
  }

  private int compare(Cleanup cleanup) throws Exception {
    if (input != null && keyCount != null) {
      throw new ParameterException(commandLine(), "--input and --keys exclude each other");
    }
    svg = output(svg);
    if (input != null) {
      InputFile.requireOther(input, svg);
    }
    // Open the file first, so that an unwritable file is detected before the work.
    OutputFile picture = svg == null ? null : new OutputFile(svg);
    if (picture != null) {
      cleanup.add(picture);
    }
    KeyLines lines =
        input == null ? null : new KeyLines(input, keyOptions.canonicaliser(), 0, null, err());
    MembershipReport report = report(lines == null ? makeKeys() : readKeys(lines));
    if (picture != null) {
      picture.write(RatePlot.svg(report).getBytes(UTF_8));
      picture.complete();
    }
    print(report, lines);
    return ExitCode.GOOD;
  }

  private ComparedKeys readKeys(KeyLines lines) {
    Set<String> keys = new HashSet<>();
    lines.forEach(
        key -> {
          if (keys.add(ComparedKeys.of(key))) {
            keyBytes += key.length;
          }
          requireHeap("the first ", keys.size(), (double) keyBytes);
        });
    lines.requireUsable();
    return new ComparedKeys(keys, keyOptions.keyHash());
  }

  private ComparedKeys makeKeys() throws InvalidKeyException {
    long wanted = keyCount == null ? DEFAULT_KEYS : keyCount;
    requireHeap("", (double) wanted, (double) wanted * madeKey(0).length);
    Set<String> keys = new HashSet<>();
    SplittableRandom random = new SplittableRandom(SEED);
    try (Progress progress = new Progress(err())) {
      while (keys.size() < wanted) {
        progress.show(() -> SnapshotSummary.number(keys.size()) + " keys");
        keys.add(ComparedKeys.of(madeKey(random.nextLong())));
      }
    }
    return new ComparedKeys(keys, keyOptions.keyHash());
  }

  /** A URL that contains only letters, so that every canonicaliser keeps URLs distinct. */
  private byte[] madeKey(long number) throws InvalidKeyException {
    StringBuilder url = new StringBuilder("https://example.org/");
    for (int shift = 60; shift >= 0; shift -= 4) {
      url.append((char) ('a' + (number >>> shift & 15)));
    }
    return keyOptions.canonicaliser().canonicalise(url.toString().getBytes(US_ASCII));
  }

  /** Rejects a comparison that does not fit into the heap. */
  private void requireHeap(String which, double keys, double keyBytes) {
    double needed = MembershipComparison.heapBytes(keys, keyBytes, probes);
    long there = Runtime.getRuntime().maxMemory();
    if (needed > HEAP_SHARE * there) {
      throw new UserErrorException(
          String.format(
              Locale.ROOT,
              "comparing %s%,.0f keys needs about %,.0f MiB of heap, but this JVM has %,d; use "
                  + "fewer keys or probes, or set a larger -Xmx in FIRSTSEEN_JAVA_OPTS",
              which,
              keys,
              needed / MEBI,
              there / MEBI));
    }
  }

  private MembershipReport report(ComparedKeys keys) {
    List<Double> highestFirst =
        falsePositiveRates.stream().distinct().sorted(Comparator.reverseOrder()).toList();
    try (Progress progress = new Progress(err())) {
      return new MembershipComparison(keys, probes, step -> progress.show(() -> step))
          .run(highestFirst);
    } catch (IllegalArgumentException e) {
      // The rate needs more bits than a hash has.
      throw new UserErrorException(e.getMessage());
    }
  }

  private void print(MembershipReport report, @Nullable KeyLines lines) {
    Fields fields = new Fields().text(report.table());
    if (lines != null) {
      lines.warnOfUnusable();
      fields
          .json("input", input)
          .json("lines", lines.lineCount())
          .json("unusable", lines.unusableCount());
    }
    fields.json("canonicaliser", keyOptions.canonicaliser().id());
    report.addTo(fields.json());
    fields.print(reportOut(), json);
  }

  /** A number of probes, from 1 to the comparison's maximum. */
  static final class ProbeCount extends OptionValues.WholeNumber {
    ProbeCount() {
      super(1, MembershipComparison.MAX_PROBES);
    }
  }
}
