package io.firstseen.cli.snapshot;

import io.firstseen.filters.cuckoo.CuckooShape;
import io.firstseen.filters.cuckoo.HeapPages;
import io.firstseen.filters.cuckoo.InsertionResult;
import io.firstseen.filters.cuckoo.PageStore;
import io.firstseen.filters.cuckoo.PagedFilter;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.near.EqualBands;
import io.firstseen.filters.near.NearRule;
import io.firstseen.filters.near.TextSignature;
import java.util.Optional;

/** Accepts the texts that resemble no text before them, as a dedup does. */
final class AcceptedTexts {
  // At ten million texts, 4 % of the bands have the identity of a different band. With more bits,
  // pages with many tags of one band would split very often.
  private static final CuckooShape SHAPE = new CuckooShape(46);

  private final NearRule rule;
  private final KeyHash keyHash;
  private final TextSignature signature;
  private final EqualBands equal;
  private final PagedFilter filter;
  private final PageStore pages = new HeapPages(SHAPE);
  private final long scope;

  AcceptedTexts(NearRule rule, KeyHash keyHash) {
    this.rule = rule;
    this.keyHash = keyHash;
    signature = new TextSignature(rule, keyHash);
    equal = new EqualBands(rule);
    filter = new PagedFilter(SHAPE, rule.tagBits());
    scope = keyHash.hash(new byte[0]);
  }

  /** The elements of a text in canonical form; empty if it resembles an accepted text. */
  Optional<long[]> accept(byte[] text) {
    long whole = keyHash.hash(text);
    long[] hashes = signature.hashes(text, scope, whole);
    if (filter.mightContain(pages, filter.withTextTag(whole, rule.tagOf(whole)))
        || equal.match(hashes, (band, found) -> filter.textTags(pages, band, found)) >= 0) {
      return Optional.empty();
    }
    for (long hash : hashes) {
      InsertionResult unused = filter.insert(pages, filter.withTextTag(hash, rule.tagOf(whole)));
    }
    return Optional.of(rule.elements(hashes));
  }
}
