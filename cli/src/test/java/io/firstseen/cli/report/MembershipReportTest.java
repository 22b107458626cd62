package io.firstseen.cli.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.filters.key.KeyHash;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MembershipReportTest {

  private static SetFigures set(String id, double asked, long bytes, int falsePositives) {
    return new SetFigures(
        id, id, asked, 1_000_000, bytes, asked * 0.9, falsePositives, 4_000_000, 81.4, 12.5, 9.51);
  }

  static MembershipReport report(SetFigures... sets) {
    List<SetFigures> all = new ArrayList<>();
    all.add(
        new SetFigures(
            "exact", "exact hash set", 0, 1_000_000, 120_000_000, 0, 0, 4_000_000, 210, 110, 90));
    all.addAll(List.of(sets));
    return new MembershipReport(
        1_000_000, 35_900_000, 4_000_000, KeyHash.Algorithm.SIPHASH_2_4, 41.2, all);
  }

  @Test
  void showsEachSetInARowUnderTheRateItIsMadeFor() {
    String table =
        report(set("bloom", 0.01, 1_200_000, 36_100), set("bloom", 0.0001, 2_400_000, 0)).table();
    assertThat(table.lines().filter(line -> line.matches("(exact|configured|  bloom).*")))
        .containsExactly(
            "exact hash set              960.00      -     0.000     0.000       0.00 0.000166"
                + "    210   110    90",
            "configured for 1 %",
            "  bloom                       9.60   2.80    0.9000    0.9025      0.890    0.915"
                + "     81    13    10",
            "configured for 0.01 %",
            "  bloom                      19.20   5.76  0.009000     0.000       0.00 0.000166"
                + "     81    13    10");
    assertThat(table).contains("keys       1,000,000, of 35.9 bytes", "siphash-2-4, 41 ns a key");
  }

  @Test
  void itsColumnsStandUnderTheirNames() {
    List<String> lines = report(set("bloom", 0.01, 1_200_000, 36_100)).table().lines().toList();
    int exact = lines.indexOf(lines.stream().filter(l -> l.startsWith("exact")).findAny().get());
    String head = lines.get(exact - 1);
    String row = lines.get(exact + 2);
    for (String[] column :
        new String[][] {
          {"a key", "9.60"},
          {"bound", "2.80"},
          {"predicted", "0.9000"},
          {"measured", "0.9025"},
          {"99 % from", "0.890"},
          {"to", "0.915"},
          {"add", "81"},
          {"hit", "13"},
          {"miss", "10"}
        }) {
      assertThat(head.indexOf(column[0]) + column[0].length())
          .as(column[0])
          .isEqualTo(row.indexOf(column[1]) + column[1].length());
    }
  }

  @Test
  void fitsIntoAHundredColumns() {
    String table =
        report(
                set("hash set, shortened keys", 1e-9, 999_999_000L, 1),
                set("hash set, shortened keys", 0.0001, 999_999_000L, 4_000_000))
            .table();
    assertThat(table.lines()).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
  }
}
