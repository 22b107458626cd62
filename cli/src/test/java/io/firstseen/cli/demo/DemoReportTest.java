package io.firstseen.cli.demo;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.ShardTree;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.jobs.options.StreamOptions.StateBackend;
import io.firstseen.serializers.Outcome;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import org.junit.jupiter.api.Test;

class DemoReportTest {
  private static final Check GOOD = new Check("good", 2, 1_000, 9, 0.001);
  private static final Check BAD = Check.never("bad", 1, 5);

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  private static DemoReport report(Check... checks) throws Exception {
    DemoCommand settings = new DemoCommand();
    settings.stateBackend = StateBackend.HEAP;
    ObservedOutcomes observed = new ObservedOutcomes();
    observed.changelog("http://a/".getBytes(UTF_8), "{\"n\":0}".getBytes(UTF_8));
    observed.add(Outcome.Kind.DUPLICATE);
    observed.add(Outcome.Kind.DEAD_LETTER);
    SetParameters parameters =
        SetParameters.of(KeyHash.fixed(), Canonicaliser.URL, new Shards(1), 0.001);
    String root = ShardTree.root(List.of(ShardTree.Leaf.NONE));
    Manifest last = Manifest.of("set", 3, 0, 1, parameters, 0, root, null, 0);
    return new DemoReport(
        settings,
        observed,
        1.5,
        3,
        SnapshotSummary.of(SnapshotSet.of(last, new Snapshot[1])),
        List.of(checks),
        1_000);
  }

  private int tell(DemoReport report, boolean json) {
    try (PrintWriter toOut = new PrintWriter(out);
        PrintWriter toErr = new PrintWriter(err)) {
      return DemoCommand.tell(report, json, toOut, toErr);
    }
  }

  @Test
  void allChecksHold() throws Exception {
    assertThat(tell(report(GOOD, GOOD), false)).isEqualTo(ExitCode.GOOD);
    assertThat(out.toString())
        .contains("events                  3   in 1.5 s, 2 per second\n")
        .contains(
            "✓ good                                       2        9    1,000  0.200 %   0.100 %\n")
        .contains("All 2 checks passed.")
        .doesNotContain("✗");
  }

  @Test
  void oneCheckThatDoesNotHoldEndsInStatus1() throws Exception {
    assertThat(tell(report(GOOD, BAD), false)).isEqualTo(ExitCode.NEGATIVE);
    assertThat(out.toString()).contains("✗ bad").contains("1 of 2 checks failed.");
  }

  @Test
  void tellsMachinesInOneLine() throws Exception {
    assertThat(tell(report(GOOD, BAD), true)).isEqualTo(ExitCode.NEGATIVE);
    assertThat(out.toString().lines()).hasSize(1);
    assertThat(err.toString()).isEmpty();
    JsonNode json = new ObjectMapper().readTree(out.toString());
    assertThat(json.get("holds").booleanValue()).isFalse();
    assertThat(json.get("events").intValue()).isEqualTo(3);
    assertThat(json.get("checks").get(0).get("holds").booleanValue()).isTrue();
    assertThat(json.get("checks").get(1).get("holds").booleanValue()).isFalse();
    assertThat(json.get("checks").get(1).get("name").textValue()).isEqualTo("bad");
  }
}
