package io.firstseen.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.firstseen.serializers.Outcome;
import io.firstseen.types.Operation;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ExactModelTest {
  private final List<DemoEvent> events = new ArrayList<>();

  private void event(Operation operation, String url) {
    events.add(DemoEvent.of(events.size(), 0, operation, url, url));
  }

  @Test
  void tellsWhatBecomesOfEachEvent() {
    event(Operation.DELETE, "a");
    event(Operation.ADD, "a");
    event(Operation.ADD, "a");
    event(Operation.ADD, "b");
    event(Operation.DELETE, "a");
    event(Operation.DELETE, "b");
    event(Operation.ADD, "b");
    events.add(DemoEvent.malformed(events.size(), 0, "?"));

    ExactModel model = new ExactModel(events, keys -> keys / 10.0);

    assertThat(model.count(Outcome.Kind.ACCEPTED)).isEqualTo(3);
    assertThat(model.count(Outcome.Kind.DUPLICATE)).isEqualTo(1);
    assertThat(model.count(Outcome.Kind.REMOVED)).isEqualTo(2);
    assertThat(model.count(Outcome.Kind.UNKNOWN_DELETE)).isEqualTo(1);
    assertThat(model.count(Outcome.Kind.DEAD_LETTER)).isEqualTo(1);
    assertThat(model.firstSeen.stream()).containsExactly(1, 3, 6);
    assertThat(model.live).containsExactly("b");
    assertThat(model.removed).containsExactly("a");
    // 0 keys before the first, 1 before the second, 0 before the third.
    assertThat(model.expectedDrops).isEqualTo(0.1, within(1e-12));
  }
}
