package io.firstseen.cli.report;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ArrayNode;
import io.firstseen.cli.plot.LinePanels;
import io.firstseen.cli.plot.LinePanels.Point;
import io.firstseen.cli.plot.LinePanels.Style;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Fields;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.cli.shared.Verb;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.near.TextSignature;
import io.firstseen.jobs.files.OutputFile;
import io.firstseen.jobs.options.DeclaredOptions;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Shows which texts a rule for near-duplicates matches. */
@Command(
    name = "near",
    modelTransformer = DeclaredOptions.class,
    description = {
      "Prints the S-curve of a rule for near-duplicates: the probability of a match over the"
          + " Jaccard similarity of two texts.",
      "With two texts, also prints their similarity and whether they match."
    },
    footer = {
      "  firstseen report near --near long --svg curve.svg",
      "  firstseen report near 'Claim your prize, Anna!' 'claim your prize, Bob'"
    })
final class ReportNearCommand extends Verb {
  private static final int STEPS = 20;

  @Option(
      names = "--near",
      defaultValue = "short",
      description =
          "The rule: short, long, or UNIT:SHINGLE,BANDSxROWS,MATCHES, with or without +fold at the"
              + " end (default: ${DEFAULT-VALUE}).")
  private NearRule rule;

  @Option(names = "--svg", paramLabel = "FILE", description = "Draw the curve into this file.")
  private @Nullable Path svg;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Parameters(paramLabel = "TEXT", arity = "0..2", description = "Two texts to compare.")
  private List<String> texts = List.of();

  @Override
  public Integer call() throws IOException {
    if (texts.size() == 1) {
      throw new UserErrorException("a comparison needs two texts, got 1");
    }
    Fields fields =
        new Fields()
            .json("rule", rule.toString())
            .text(
                "rule %s: %d bands of %d rows, %d of them must be equal%n"
                    .formatted(rule, rule.bands(), rule.rows(), rule.matches()));
    if (texts.size() == 2) {
      compare(fields);
    }
    ArrayNode curve = Json.array();
    fields.text("similarity  probability of a match%n".formatted());
    for (int i = 1; i <= STEPS; i++) {
      double similarity = (double) i / STEPS;
      double probability = rule.matchProbability(similarity);
      curve.addObject().put("similarity", similarity).put("probability", probability);
      String bar = "#".repeat((int) Math.round(40 * probability));
      fields.text(String.format(Locale.ROOT, "%10.2f  %.3g  %s%n", similarity, probability, bar));
    }
    if (svg != null) {
      try (OutputFile picture = new OutputFile(output(svg))) {
        picture.write(curve().getBytes(UTF_8));
        picture.complete();
      }
    }
    fields.json("curve", curve).print(reportOut(), json);
    return ExitCode.GOOD;
  }

  private void compare(Fields fields) {
    byte[][] forms = texts.stream().map(ReportNearCommand::form).toArray(byte[][]::new);
    TextSignature signature = new TextSignature(rule, KeyHash.fixed());
    double similarity = signature.similarity(forms[0], forms[1]);
    long[] first = signature.bands(forms[0], 0);
    long[] second = signature.bands(forms[1], 0);
    long equal = IntStream.range(0, first.length).filter(i -> first[i] == second[i]).count();
    boolean match = equal >= rule.matches();
    fields
        .json("similarity", similarity)
        .json("equalBands", equal)
        .json("match", match)
        .text(
            "similarity %s, %d equal bands: %s%n"
                .formatted(
                    SnapshotSummary.decimal(similarity),
                    equal,
                    match ? "near-duplicates" : "different texts"));
  }

  private static byte[] form(String text) {
    try {
      return Canonicaliser.TEXT.canonicalise(text.getBytes(UTF_8));
    } catch (InvalidKeyException e) {
      throw new UserErrorException("'%s': %s".formatted(text, e.getMessage()));
    }
  }

  private String curve() {
    List<Point> points =
        IntStream.rangeClosed(0, 100)
            .mapToObj(i -> new Point(i / 100.0, rule.matchProbability(i / 100.0)))
            .toList();
    LinePanels picture =
        new LinePanels(
            "Probability of a match", "Jaccard similarity of the shingles of two texts", false);
    Style style = new Style(rule.toString(), "#0072b2", false);
    picture.add("probability", false, Map.of(style, points), Map.of());
    return picture.svg();
  }
}
