package io.firstseen.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.jobs.options.KafkaOptions;
import java.util.Properties;
import org.junit.jupiter.api.Test;

class KafkaSinksTest {
  private static Properties producer(String... words) {
    return KafkaSinks.producerOfOutcomes(KafkaOptions.parse(words));
  }

  @Test
  void theBatchesOfOutcomesAreLargerThanKafkasDefaultUnlessTheUserSetsThem() {
    assertThat(producer("--bootstrap-servers=here:9092")).containsEntry("batch.size", "65536");
    assertThat(producer("--bootstrap-servers=here:9092", "--kafka-property=batch.size=100"))
        .containsEntry("batch.size", "100");
  }
}
