package io.firstseen.operators.dedup;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.junit.jupiter.api.Test;

/** The page on the state's format names the states that there are, and no other. */
class DedupStatePageTest {
  private static final Path PAGE = Path.of("..", "docs", "format", "filter-state-v1.md");
  private static final Pattern ROW =
      Pattern.compile("(?m)^\\| (`firstseen-[a-z-]+`(?:, `firstseen-[a-z-]+`)*) \\|");

  @Test
  void namesTheStates() throws IOException {
    assertThat(names(Files.readString(PAGE)))
        .containsAll(DedupState.LOGS.stream().map(MapStateDescriptor::getName).toList())
        .hasSize(DedupState.LOGS.size() + 10)
        .contains(
            DedupState.PAGES.getName(),
            DedupState.SUMMARY.getName(),
            DedupState.EXACT.getName(),
            DedupState.AUDIT.getName(),
            DedupState.AUDIT_COUNTS.getName(),
            DedupState.AUDIT_PRECISION.getName(),
            DedupState.AUDIT_RECALL.getName(),
            DedupState.CLOCK.getName(),
            DedupState.FORGOTTEN.getName(),
            DedupState.PARAMETERS.getName());
  }

  private static Set<String> names(String page) {
    Set<String> names = new TreeSet<>();
    Matcher rows = ROW.matcher(page);
    while (rows.find()) {
      names.addAll(List.of(rows.group(1).replace("`", "").split(", ")));
    }
    return names;
  }
}
