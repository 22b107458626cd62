package io.firstseen.jobs.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PublisherLineTest {

  private static PublisherLine line(String claims, long sequence) {
    return new PublisherLine(claims == null ? List.of() : List.of(claims.split(" ")), sequence);
  }

  private static OptionalLong sequence(Long orNull) {
    return orNull == null ? OptionalLong.empty() : OptionalLong.of(orNull);
  }

  /** Columns: claims and sequence of the state; claim and sequence on the topic; - for none. */
  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        // A new job, and one that has a checkpoint and has sent nothing.
        "-, -1, -, -, may begin",
        "-, -1, b/1, 7, 'manifests up to sequence 7, of job b, and this job has no state'",
        "-, -1, -, 7, 'of an unknown job, and this job has no state'",
        "-, -1, b/1, -, 'a publisher without manifests, of job b, and'",
        // Started from state, also of the same job; its last claims may not be committed yet.
        "a/1, 7, a/1, 7, may begin",
        "a/1, 7, a/1, 6, may begin",
        "a/1 b/1, 7, a/1, 5, may begin",
        "a/1 b/1, 7, b/1, 7, may begin",
        // State of a job that published to another topic.
        "a/1, 7, -, -, may begin",
        "a/1, 7, -, 7, of an unknown job",
        // Older state, of the same job or another.
        "a/1, 7, a/1, 8, 'up to sequence 8, of job a, and this job continues after sequence 7, of"
            + " job a'",
        "a/1, 7, a/2, 8, after sequence 7",
        // Another start from the same state has published.
        "a/1, 7, b/1, 7, 'of job b, and this job continues after sequence 7, of job a'",
        "a/1, 7, a/2, 7, after sequence 7",
        "a/1 b/1, 8, c/1, 8, of job c",
      })
  void whoMayBegin(String claims, long sequence, String claim, Long newest, String end) {
    Optional<String> refusal =
        line(claims, sequence).refusalToBegin(false, Optional.ofNullable(claim), sequence(newest));
    assertThat(refusal.orElse("it may begin")).contains(end);
  }

  /**
   * Columns: the sequence that the job has sent or continues after, the next one, and the newest of
   * the topic.
   */
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
        // It took over after 9, but its state continues after 7.
        "9, 8, 9, false",
        "9, 10, 9, true",
      })
  void nothingFollowsManifestsThatItDidNotSend(
      long sequence, long next, Long newest, boolean mayBeSent) {
    Optional<String> claim = newest == null ? Optional.empty() : Optional.of("a/1");
    Optional<String> refusal =
        line("a/1", sequence).refusalToSend(next, false, claim, sequence(newest));
    assertThat(refusal.isEmpty()).as("%s", refusal).isEqualTo(mayBeSent);
  }

  /** Columns: claims and sequence of the state; the highest signed sequence on the topic. */
  @ParameterizedTest
  @CsvSource(
      nullValues = "-",
      value = {
        "-, -1, -, may begin",
        "-, -1, 7, 'signed manifests up to sequence 7, and this job has no state of it'",
        "a/1, 7, -, may begin",
        "a/1, 7, 7, may begin",
        "a/1, 7, 8, 'signed manifests up to sequence 8, and this job continues after sequence 7, of"
            + " job a'",
      })
  void whereOnlySignedManifestsCountSequencesDecide(
      String claims, long sequence, Long newest, String end) {
    Optional<String> refusal =
        line(claims, sequence).refusalToBegin(true, Optional.empty(), sequence(newest));
    assertThat(refusal.orElse("it may begin")).contains(end);
    assertThat(
            line(claims, sequence)
                .refusalToSend(sequence + 1, true, Optional.empty(), sequence(newest))
                .isPresent())
        .isEqualTo(refusal.isPresent());
  }

  @ParameterizedTest
  @CsvSource({"a/1, true", "b/1, true", "c/1, false", "a/2, false"})
  void nothingIsSentAfterTheClaimOfAnother(String claim, boolean mayBeSent) {
    assertThat(
            line("a/1 b/1", 7)
                .refusalToSend(8, false, Optional.of(claim), OptionalLong.of(7))
                .orElse("a job has not taken it over"))
        .isEqualTo(
            mayBeSent
                ? "a job has not taken it over"
                : "job " + claim.charAt(0) + " has taken it over");
  }

  @Test
  void startsWithoutAManifestLeaveNothingAndCommittedClaimsReplaceOlderOnes() {
    PublisherLine line = PublisherLine.NEW.claimedBy("a/1").after(7);
    assertThat(line.since(Optional.of("a/1"))).isEqualTo(line("a/1", 7));
    line = line.claimedBy("c/1").after(8);
    assertThat(line.since(Optional.of("a/1"))).as("not committed").isEqualTo(line("a/1 c/1", 8));
    line = line.since(Optional.of("c/1"));
    assertThat(line).isEqualTo(line("c/1", 8));
    assertThat(line.refusalToBegin(false, Optional.of("a/1"), OptionalLong.of(8))).isPresent();
  }

  @Test
  void aTakeOverGoesOnAfterWhatWasThereThenAndNoLater() {
    PublisherLine there = PublisherLine.of(Optional.of("b/1"), OptionalLong.of(9));
    for (PublisherLine line :
        List.of(there.then(PublisherLine.NEW), there.then(line("a/1", 7)), there)) {
      assertThat(line.refusalToBegin(false, Optional.of("b/1"), OptionalLong.of(9))).isEmpty();
      assertThat(line.refusalToBegin(false, Optional.of("b/1"), OptionalLong.of(10))).isPresent();
      assertThat(line.refusalToBegin(false, Optional.of("c/1"), OptionalLong.of(9))).isPresent();
    }
    // Its own state is used when it starts again with the same option.
    assertThat(there.then(line("b/1 d/1", 12)).since(Optional.of("d/1")))
        .isEqualTo(line("d/1", 12));
    assertThat(there.then(line("d/1", 12)).since(Optional.of("d/1"))).isEqualTo(line("d/1", 12));
  }

  @Test
  void manifestsWithoutAClaimCanBeTakenOver() {
    PublisherLine there = PublisherLine.of(Optional.empty(), OptionalLong.of(9));
    assertThat(there.refusalToBegin(false, Optional.empty(), OptionalLong.of(9))).isEmpty();
    assertThat(there.refusalToSend(10, false, Optional.empty(), OptionalLong.of(9))).isEmpty();
    assertThat(there.claimedBy("a/1").since(Optional.of("a/1"))).isEqualTo(line("a/1", 9));
  }
}
