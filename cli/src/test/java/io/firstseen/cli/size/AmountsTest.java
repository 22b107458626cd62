package io.firstseen.cli.size;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.cli.shared.Fields;
import org.junit.jupiter.api.Test;

class AmountsTest {

  @Test
  void amountsAreReadable() {
    assertThat(Fields.bytes(1023)).isEqualTo("1023 B");
    assertThat(Fields.bytes(1 << 30)).isEqualTo("1.00 GiB");
    assertThat(Fields.bytes(2.76 * (1L << 40))).isEqualTo("2.76 TiB");
    assertThat(Fields.bytes(1010.0 * (1 << 20))).isEqualTo("1,010 MiB");
    assertThat(Amounts.seconds(3.14)).isEqualTo("3.1 s");
    assertThat(Amounts.seconds(119)).isEqualTo("119 s");
    assertThat(Amounts.seconds(600)).isEqualTo("10 min");
    assertThat(Amounts.seconds(36_000)).isEqualTo("10.0 h");
    assertThat(Amounts.seconds(86_400 * 30.0)).isEqualTo("30 days");
    assertThat(Amounts.rate(5e6)).isEqualTo("5.00 M/s");
    assertThat(Amounts.rate(25_585)).isEqualTo("25,585/s");
    assertThat(Amounts.mebibytes((1 << 20) + 1)).isEqualTo("2m");
  }
}
