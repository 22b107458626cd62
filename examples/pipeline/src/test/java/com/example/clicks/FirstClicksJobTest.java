package com.example.clicks;

import static com.example.clicks.FirstClicksJob.CLICKS;
import static com.example.clicks.FirstClicksJob.DEAD_LETTERS;
import static com.example.clicks.FirstClicksJob.FIRST_CLICKS;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.embedded.SharedBroker;
import io.firstseen.embedded.SharedCluster;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The whole job, on a broker and on a cluster. */
class FirstClicksJobTest {
  @RegisterExtension static final SharedBroker KAFKA = SharedBroker.tuned();
  @RegisterExtension static final SharedCluster FLINK = SharedCluster.ofSlots(2);

  private static final String ANN_A = "{\"visitor\": \"ann\", \"url\": \"https://example.org/a\"}";
  private static final String BOB_A =
      "{\"visitor\": \"bob\", \"url\": \"HTTPS://EXAMPLE.org:443/a\"}";
  private static final String BOB_B = "{\"visitor\": \"bob\", \"url\": \"https://example.org/b\"}";
  private static final String CAT_C = "{\"visitor\": \"cat\", \"url\": \"https://example.org/c\"}";

  @Test
  void theFirstClickOnEachPageGetsThroughOnceAlsoOverARestart() throws Exception {
    KAFKA.broker().createTopic(CLICKS, 1);
    KAFKA.broker().createTopic(FIRST_CLICKS, 1);
    KAFKA.broker().createTopic(DEAD_LETTERS, 1);

    KAFKA.broker().send(CLICKS, ANN_A, "no JSON", BOB_A, BOB_B);
    JobClient job = start(new Configuration());
    KAFKA.broker().awaitCommitted(FIRST_CLICKS, 2);
    String savepoint =
        FLINK.cluster().stopWithSavepoint(job, SavepointFormatType.NATIVE, false);

    KAFKA.broker().send(CLICKS, BOB_B, CAT_C);
    start(new Configuration().set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint));
    KAFKA.broker().awaitCommitted(FIRST_CLICKS, 3);

    assertThat(KAFKA.broker().readCommitted(FIRST_CLICKS))
        .extracting(ConsumerRecord::value)
        .containsExactlyInAnyOrder(ANN_A, BOB_B, CAT_C);
    assertThat(KAFKA.broker().readCommitted(DEAD_LETTERS))
        .extracting(ConsumerRecord::value)
        .containsExactly("no JSON");
  }

  private static JobClient start(Configuration settings) throws Exception {
    StreamExecutionEnvironment env = FLINK.environment(settings);
    env.setParallelism(2);
    env.enableCheckpointing(100);
    FirstClicksJob.build(env, KAFKA.servers());
    return env.executeAsync();
  }
}
