package io.firstseen.cli.snapshot;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.InputFile;
import io.firstseen.cli.shared.KeyLines;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.cli.shared.Verb;
import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.HeapPages;
import io.firstseen.filters.cuckoo.InsertionResult;
import io.firstseen.filters.cuckoo.PageStore;
import io.firstseen.filters.cuckoo.PagedFilter;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.near.EqualBands;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.near.TextSignature;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.jobs.files.DeadLetterFile;
import io.firstseen.jobs.options.KeyOptions;
import io.firstseen.jobs.options.NearOptions;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.Firstseen;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.function.LongConsumer;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Options of a file of keys, and the hashes that a set contains for these keys or texts. */
final class KeyFile {
  private static final int MAX_HASHES = Integer.MAX_VALUE - 8;

  // At ten million texts, 4 % of the bands have the identity of a different band. With more bits,
  // pages with many tags of one band would split very often.
  private static final CuckooShape TEXTS = new CuckooShape(46);

  @Option(
      names = "--input",
      required = true,
      paramLabel = "KEYS",
      description =
          "File with all keys of the set, optionally in gzip format; - reads standard input.")
  String input;

  @Option(
      names = "--column",
      paramLabel = "N",
      converter = OptionValues.Count.class,
      description =
          "Column of the key, from 1, in tab-separated lines (default: a line is a key; for"
              + " URLs, lines with several columns are skipped).")
  private int column;

  @Option(
      names = "--dead-letters",
      paramLabel = "OUT",
      description =
          "Output file of lines without a usable key: place TAB reason TAB line. The first "
              + "are also reported on standard error.")
  private Path deadLetters;

  @Mixin private KeyOptions keys;

  @Mixin private NearOptions near;

  private KeyLines lines;
  private long nearDuplicates;
  private int hashCount;

  /** The parameters of the set; one rate is of a key or a text, the other of a URL. */
  SetParameters parameters(int shards, KeyOptions.Rate ofKey, KeyOptions.Rate ofUrl) {
    KeyHash keyHash = keys.keyHash();
    double rate = keys.keyRate(ofKey, ofUrl).orElse(Firstseen.DEFAULT_FALSE_POSITIVE_RATE);
    return Verb.accepted(
        () ->
            SetParameters.of(
                    keyHash,
                    keys.canonicaliser(),
                    new Shards(shards),
                    near.rule().map(rule -> rule.elementRate(rate)).orElse(rate))
                .withNear(near.rule().orElse(null)));
  }

  /** Reads the hashes of all keys; omits texts that resemble an earlier text. */
  long[] read(Cleanup cleanup, UnaryOperator<@Nullable Path> output, PrintWriter err)
      throws IOException {
    deadLetters = output.apply(deadLetters);
    InputFile.requireOther(input, deadLetters);
    DeadLetterFile rejected =
        deadLetters == null ? null : new DeadLetterFile(deadLetters, event -> null);
    if (rejected != null) {
      cleanup.add(rejected);
    }
    lines = new KeyLines(input, keys.canonicaliser(), column, rejected, err);
    KeyHash keyHash = keys.keyHash();
    LongStream.Builder hashes = LongStream.builder();
    LongConsumer receiver =
        hash -> {
          if (hashCount++ == MAX_HASHES) {
            throw new UserErrorException(
                "one snapshot takes at most " + MAX_HASHES + " keys; " + input + " has more");
          }
          hashes.accept(hash);
        };
    near.rule()
        .ifPresentOrElse(
            rule -> readTexts(rule, keyHash, receiver),
            () -> lines.forEach(key -> receiver.accept(keyHash.hash(key))));
    if (rejected != null) {
      rejected.complete();
    }
    lines.requireUsable();
    return hashes.build().toArray();
  }

  /** Passes the elements of the texts that resemble no text before them, as a dedup does. */
  private void readTexts(NearRule rule, KeyHash keyHash, LongConsumer receiver) {
    TextSignature signature = new TextSignature(rule, keyHash);
    EqualBands equal = new EqualBands(rule);
    PagedFilter filter = new PagedFilter(TEXTS, rule.tagBits());
    PageStore pages = new HeapPages(TEXTS);
    long scope = keyHash.hash(new byte[0]);
    lines.forEach(
        text -> {
          long whole = keyHash.hash(text);
          long[] hashes = signature.hashes(text, scope, whole);
          if (filter.mightContain(pages, filter.withTextTag(whole, rule.tagOf(whole)))
              || equal.match(hashes, (band, found) -> filter.textTags(pages, band, found)) >= 0) {
            nearDuplicates++;
            return;
          }
          for (long hash : hashes) {
            InsertionResult unused =
                filter.insert(pages, filter.withTextTag(hash, rule.tagOf(whole)));
          }
          Arrays.stream(rule.elements(hashes)).forEach(receiver);
        });
  }

  void warn(PrintWriter err) {
    keys.missingKeyWarning().ifPresent(text -> err.println("warning: " + text));
    lines.warnOfUnusable();
  }

  ObjectNode addLines(ObjectNode object) {
    return object.put("lines", lines.lineCount()).put("unusable", lines.unusableCount());
  }

  void addNearDuplicates(ObjectNode object) {
    if (near.rule().isPresent()) {
      object.put("nearDuplicates", nearDuplicates);
    }
  }

  String omitted() {
    return nearDuplicates == 0
        ? ""
        : ", without %s near-duplicates".formatted(number(nearDuplicates));
  }

  /** The number of keys or texts for a number of hashes, with its unit. */
  String amount(long hashes) {
    return SnapshotSummary.amount(near.rule().orElse(null), hashes);
  }
}
