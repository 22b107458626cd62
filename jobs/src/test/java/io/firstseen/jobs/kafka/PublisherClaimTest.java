package io.firstseen.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PublisherClaimTest {

  /** State as "self, before, sequence"; a claim and a sequence on the topic; - for none. */
  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        // A new job.
        "-, -, -, me, -, -, may begin",
        "-, -, -, me, you, 7, no state",
        "-, -, -, me, -, 7, no state",
        "-, -, -, me, you, -, no state",
        // The same job after a failure: its claim may wait for its commit.
        "me, -, 7, me, me, 7, may begin",
        "me, -, 7, me, me, 6, may begin",
        "me, -, 7, me, -, -, may begin",
        "me, old, 7, me, old, 5, may begin",
        "me, old, 7, me, you, 8, taken it over",
        "me, -, 7, me, old, 8, taken it over",
        // Another job from the publisher's state.
        "old, -, 7, me, old, 7, may begin",
        "old, -, 7, me, old, 6, may begin",
        "old, older, 7, me, older, 6, may begin",
        "old, -, 7, me, -, -, may begin",
        "old, -, 7, me, old, 8, older",
        "old, -, 7, me, you, 7, state is of",
        "old, -, 7, me, -, 8, older",
      })
  void whoMayBegin(
      String self,
      String before,
      Long sequence,
      String job,
      String claim,
      Long newest,
      String end) {
    PublisherClaim restored =
        self == null ? null : new PublisherClaim(self, before == null ? "" : before, sequence);
    Optional<String> refusal =
        PublisherClaim.refusal(
            restored,
            job,
            Optional.ofNullable(claim),
            newest == null ? OptionalLong.empty() : OptionalLong.of(newest));
    if (end.equals("may begin")) {
      assertThat(refusal).isEmpty();
    } else {
      assertThat(refusal.orElse("it may begin")).contains(end);
    }
  }

  /** What the job sent or began after, what it is to send, and the newest of the topic. */
  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "7, 8, -, true",
        "7, 8, 7, true",
        "7, 8, 5, true",
        "7, 8, 8, false",
        "7, 9, 8, false",
        "-1, 1, -, true",
        "-1, 1, 1, false",
        // It began after 9, but the sequences of its job after 7.
        "9, 8, 9, false",
        "9, 10, 9, true",
      })
  void nothingFollowsManifestsThatItDidNotSend(
      long sequence, long next, Long newest, boolean mayBeSent) {
    PublisherClaim mine = PublisherClaim.of("me", Optional.empty()).after(sequence);
    Optional<String> refusal =
        mine.refusalToSend(next, newest == null ? OptionalLong.empty() : OptionalLong.of(newest));
    assertThat(refusal.isEmpty()).as("%s", refusal).isEqualTo(mayBeSent);
  }

  @ParameterizedTest
  @CsvSource({"me, true", "old, true", "you, false"})
  void whatWasBeforeCountsUntilTheClaimIsThere(String claim, boolean covered) {
    PublisherClaim mine = PublisherClaim.of("me", Optional.of("old")).after(3);
    assertThat(mine.covers(Optional.of(claim))).isEqualTo(covered);
    assertThat(mine.confirmed().covers(Optional.of(claim))).isEqualTo(claim.equals("me"));
  }
}
