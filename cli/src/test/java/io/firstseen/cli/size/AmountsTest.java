package io.firstseen.cli.size;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.cli.shared.Fields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class AmountsTest {

  @ParameterizedTest
  @CsvSource({
    "1, 1",
    "1e12, 1000000000000",
    "2.5e6, 2500000",
    "10G, 10000000000",
    "1.5k, 1500",
    "1_000_000, 1000000",
    "9.2E18, 9200000000000000000"
  })
  void keysAreWrittenAsPeopleWriteThem(String written, long keys) {
    assertThat(new Amounts.Count().convert(written)).isEqualTo(keys);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "0", "1.5", "-1", "1e19", "1e30", "2,5M", "ten", "5GB", "1e", "0x10", "NaN"})
  void whatIsNoNumberOfKeysIsRefused(String written) {
    assertThatThrownBy(() -> new Amounts.Count().convert(written))
        .isInstanceOf(TypeConversionException.class)
        .hasMessageContaining("must be a")
        .hasMessageContaining("got '" + written + "'");
  }

  @ParameterizedTest
  @CsvSource({"4g, 4294967296", "4GiB, 4294967296", "512m, 536870912", "1e9, 1000000000", "7b, 7"})
  void unitsOfBytesArePowersOf1024(String written, long bytes) {
    assertThat(new Amounts.ByteCount().convert(written)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "4 apples", "g", "1e19"})
  void whatIsNoSizeIsRefused(String written) {
    assertThatThrownBy(() -> new Amounts.ByteCount().convert(written))
        .isInstanceOf(TypeConversionException.class);
  }

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
