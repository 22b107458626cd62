package io.firstseen.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.shared.UserErrorException;
import java.util.List;
import org.junit.jupiter.api.Test;

class PublishedTailTest {

  @Test
  void aWrongSettingOfConsumersIsOneSentence() {
    KafkaOptions options =
        KafkaOptions.parse(
            "--bootstrap-servers=localhost:1", "--kafka-property=fetch.min.bytes=many");
    assertThatThrownBy(() -> PublishedTail.newestManifest(options, "s", List.of()))
        .isInstanceOf(UserErrorException.class)
        .hasMessageStartingWith(
            "cannot read topic firstseen.snapshots: Invalid value many for configuration"
                + " fetch.min.bytes");
  }
}
