package io.firstseen.operators.restores;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.operators.restores.DedupTrial.Settings;
import io.firstseen.operators.restores.EventScript.Outcome;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A dedup in the task of its input. */
class InTaskOfInputTest {
  @RegisterExtension private static final TestCluster CLUSTER = new TestCluster();

  @ParameterizedTest
  @EnumSource
  void stateGoesToTwoTasksAndBackWithoutForgettingAKey(Backend backend) throws Exception {
    List<String> keys = DedupTrial.keys();
    EventScript script = new EventScript().addAll(keys, 1).mix(keys, 3_000, 2);
    int first = script.size();
    script.mix(keys, 3_000, 3);
    int second = script.size();
    script.mix(keys, 3_000, 4).probe(keys, 2_000);
    DedupTrial trial = new DedupTrial(script);

    JobClient inOne = trial.start(CLUSTER, inTaskOfInput(backend));
    trial.play(first);
    assertThat(CLUSTER.tasks(inOne)).noneMatch(task -> task.startsWith("firstseen-dedup"));
    Path savepoint = CLUSTER.stop(inOne, SavepointFormatType.CANONICAL, false);
    JobClient inTwo =
        trial.start(CLUSTER, Settings.of(backend, 2).sourceLikeDedup().from(savepoint));
    trial.play(second);
    assertThat(CLUSTER.tasks(inTwo)).anyMatch(task -> task.startsWith("firstseen-dedup"));
    savepoint = CLUSTER.stop(inTwo, SavepointFormatType.CANONICAL, false);
    JobClient again = trial.start(CLUSTER, inTaskOfInput(backend).from(savepoint));
    trial.play(script.size());
    CLUSTER.cancel(again);

    script.assertExactly(trial.outcomes, script.size());
    assertThat(script.count(first, script.size(), Outcome.DUPLICATE)).isGreaterThan(2_000);
  }

  @Test
  void anotherParallelismThanOneIsRefusedWhereTheJobIsBuilt() {
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.createLocalEnvironment(2, new Configuration());
    assertThatThrownBy(
            () ->
                Firstseen.dedup(env.fromSequence(1, 2))
                    .keyText(String::valueOf)
                    .inTaskOfInput()
                    .apply())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll("parallelism 1", "input has 2", "environment 2");
  }

  private static Settings inTaskOfInput(Backend backend) {
    return Settings.of(backend, 1).sourceLikeDedup().dedup(Firstseen::inTaskOfInput);
  }
}
