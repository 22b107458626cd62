package io.firstseen.faults;

import static io.firstseen.faults.Pipeline.ACCEPTED;
import static io.firstseen.faults.Pipeline.DEAD_LETTERS;
import static io.firstseen.faults.Pipeline.DUPLICATES;
import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.faults.ExactModel.Kind;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Output that is right is good, and each thing that may be wrong with it is seen. */
class OutputCheckTest {
  private static final int EVENTS = 20_000;

  private final ExactModel model = ExactModelTest.model(5, 0.001);
  private final OutputCheck check = new OutputCheck(model);

  private void accept(int number) {
    ExactModel.Event event = model.event(number);
    boolean isAccepted = event.kind().isAccepted();
    check.accept(
        isAccepted ? ACCEPTED : DUPLICATES,
        "place",
        ExactModel.key(event.key()),
        event.kind() == Kind.ACCEPTED || event.kind() == Kind.DUPLICATE,
        number);
  }

  private List<Long> faults() {
    return List.of(
        check.missing(EVENTS), check.doubled.get(), check.wrong.get(), check.disordered.get());
  }

  private int first(Kind kind, boolean hasBefore) {
    int number = 0;
    while (model.event(number).kind() != kind || (model.event(number).before() >= 0) != hasBefore) {
      number++;
    }
    return number;
  }

  @Test
  void rightOutputIsGood() {
    for (int number = 0; number < EVENTS; number++) {
      accept(number);
    }
    assertThat(faults()).containsOnly(0L);
    assertThat(check.examples).isEmpty();
    assertThat(check.lowestUnseen()).isEqualTo(EVENTS);
  }

  @Test
  void partitionsMayBeReadApart() {
    for (int partition = 0; partition < 2; partition++) {
      for (int number = 0; number < EVENTS; number++) {
        if (model.event(number).partition() == partition) {
          accept(number);
        }
      }
    }
    assertThat(faults()).containsOnly(0L);
  }

  @Test
  void whatComesTwiceIsSeen() {
    for (int number = 0; number < EVENTS; number++) {
      accept(number);
    }
    accept(first(Kind.ACCEPTED, false));
    accept(first(Kind.DUPLICATE, true));
    assertThat(faults()).containsExactly(0L, 2L, 0L, 0L);
    assertThat(check.examples).hasSize(2);
  }

  @Test
  void whatIsMissingIsSeen() {
    int lost = first(Kind.DUPLICATE, true);
    for (int number = 0; number < EVENTS; number++) {
      if (number != lost) {
        accept(number);
      }
    }
    assertThat(check.lowestUnseen()).isEqualTo(lost);
    assertThat(check.missing(EVENTS)).isEqualTo(1);
    assertThat(check.examples).hasSize(1).first().asString().contains("event " + lost);
  }

  @Test
  void orderOfAKeyIsSeen() {
    int removal = first(Kind.REMOVED, true);
    List<Integer> order = new ArrayList<>();
    for (int number = 0; number < EVENTS; number++) {
      order.add(number);
    }
    Collections.swap(order, model.event(removal).before(), removal);
    order.forEach(this::accept);
    assertThat(faults()).containsExactly(0L, 0L, 0L, 1L);
  }

  @Test
  void otherOutcomesAreSeen() {
    int accepted = first(Kind.ACCEPTED, false);
    int duplicate = first(Kind.DUPLICATE, true);
    int removed = first(Kind.REMOVED, true);
    // A repeat is accepted, a new key dropped, a removal without a tombstone, another key.
    check.accept(ACCEPTED, "1", key(duplicate), true, duplicate);
    check.accept(DUPLICATES, "2", key(accepted), true, accepted);
    check.accept(ACCEPTED, "3", key(removed), true, removed);
    check.accept(ACCEPTED, "4", "another", true, accepted);
    check.accept(DEAD_LETTERS, "5", null, true, accepted);
    check.accept(ACCEPTED, "6", null, true, -1);
    assertThat(check.wrong).hasValue(6);
    assertThat(check.doubled).hasValue(0);
  }

  private String key(int number) {
    return ExactModel.key(model.event(number).key());
  }
}
