package io.firstseen.cli.snapshot;

import io.firstseen.cli.shared.KeyLines;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.operators.UserErrorException;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.LongConsumer;

/** The hashes that a set contains for a list of keys, or of texts with their bands. */
final class SetHashes {
  private final SetParameters parameters;
  private final KeyHash keyHash;
  private long nearDuplicates;

  /**
   * @param rate the false-positive rate of a key or of a text
   * @throws UserErrorException if the rule needs a different canonicaliser
   */
  SetHashes(
      KeyHash keyHash,
      Canonicaliser canonicaliser,
      int shards,
      double rate,
      Optional<NearRule> near) {
    this.keyHash = keyHash;
    try {
      parameters =
          SetParameters.of(
                  keyHash,
                  canonicaliser,
                  new Shards(shards),
                  near.map(rule -> rule.elementRate(rate)).orElse(rate))
              .withNear(near.orElse(null));
    } catch (IllegalArgumentException e) {
      throw new UserErrorException(e.getMessage());
    }
  }

  SetParameters parameters() {
    return parameters;
  }

  /** Reads all keys; omits texts that resemble an earlier text. */
  void forEach(KeyLines lines, LongConsumer receiver) {
    NearRule rule = parameters.near();
    if (rule == null) {
      lines.forEach(key -> receiver.accept(keyHash.hash(key)));
      return;
    }
    AcceptedTexts texts = new AcceptedTexts(rule, keyHash);
    lines.forEach(
        text ->
            texts
                .accept(text)
                .ifPresentOrElse(
                    elements -> Arrays.stream(elements).forEach(receiver), () -> nearDuplicates++));
  }

  /** The number of omitted texts. */
  long nearDuplicates() {
    return nearDuplicates;
  }

  /** The number of keys or texts for a number of hashes, with its unit. */
  String amount(long hashes) {
    NearRule rule = parameters.near();
    return rule == null
        ? SnapshotSummary.number(hashes) + " keys"
        : SnapshotSummary.number(Math.round((double) hashes / rule.hashes())) + " texts";
  }

  /** The end of a summary. */
  String omitted() {
    return nearDuplicates == 0
        ? ""
        : ", without %s near-duplicates".formatted(SnapshotSummary.number(nearDuplicates));
  }
}
