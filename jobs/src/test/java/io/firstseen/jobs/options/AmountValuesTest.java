package io.firstseen.jobs.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class AmountValuesTest {

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
    assertThat(new AmountValues.Count().convert(written)).isEqualTo(keys);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "0", "1.5", "-1", "1e19", "1e30", "2,5M", "ten", "5GB", "1e", "0x10", "NaN"})
  void whatIsNoNumberOfKeysIsRefused(String written) {
    assertThatThrownBy(() -> new AmountValues.Count().convert(written))
        .isInstanceOf(TypeConversionException.class)
        .hasMessageContaining("must be a")
        .hasMessageContaining("got '" + written + "'");
  }

  @ParameterizedTest
  @CsvSource({"4g, 4294967296", "4GiB, 4294967296", "512m, 536870912", "1e9, 1000000000", "7b, 7"})
  void unitsOfBytesArePowersOf1024(String written, long bytes) {
    assertThat(new AmountValues.ByteCount().convert(written)).isEqualTo(bytes);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "4 apples", "g", "1e19"})
  void whatIsNoSizeIsRefused(String written) {
    assertThatThrownBy(() -> new AmountValues.ByteCount().convert(written))
        .isInstanceOf(TypeConversionException.class);
  }
}
