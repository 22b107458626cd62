package io.firstseen.operators.dedup;

/**
 * The names and descriptions of the settings of a dedup that the command line of the jobs and the
 * options of SQL tables share. A description has no period at its end. The defaults are declared
 * with the options, because they may differ. Not for other jobs, which use {@link Firstseen}.
 */
public final class DedupSettings {
  public static final String CAPACITY = "capacity";
  public static final String CAPACITY_TEXT =
      "Number of live keys up to which the false-positive rate holds; above it, the rate grows in"
          + " proportion. State keeps its first capacity";

  public static final String FPR = "fpr";
  public static final String FPR_TEXT =
      "Probability, in (0, 0.1], that a new key is reported as a duplicate when the filter is"
          + " filled to its capacity. State keeps its first rate";

  public static final String MODE = "mode";
  public static final String MODE_TEXT =
      "approximate: only the filter decides; exact: keys that the filter reports as known are"
          + " checked against the set of the live keys' 64-bit hashes, so a new key is reported"
          + " as a duplicate only if its hash equals a live key's; exact-keys: checked against"
          + " the keys themselves, so no new key is reported as a duplicate. Fixed for the life of"
          + " the state";

  public static final String CANONICALISER = "canonicaliser";
  public static final String CANONICALISER_TEXT =
      "Rule that maps spellings of a key to one key: none (bytes unchanged), url, text, or"
          + " url-expression (entries of lists of hosts and URLs); url-2 and url-expression-1 are"
          + " older versions, for older state. Fixed for the life of the state";

  public static final String STRIP_PARAMETERS = "strip-parameters";
  public static final String STRIP_PARAMETERS_TEXT =
      "Query parameters that are removed from URLs, such as utm_*,gclid; a trailing * matches any"
          + " suffix, and the name common stands for the list of tracking parameters in"
          + " docs/format/url-v3.md. Needs the canonicaliser url. Fixed for the life of the state";

  public static final String NEAR = "near";
  public static final String NEAR_TEXT =
      "Rule by which texts resemble each other: short (SMS, chat), long (mails, pages), or"
          + " UNIT:SHINGLE,BANDSxROWS,MATCHES such as characters:4,32x5,2. +fold at the end of a"
          + " rule also matches texts with look-alike or spaced-out letters. Texts that resemble"
          + " a live text of their scope are duplicates. Needs the canonicaliser text. The"
          + " capacity and the false-positive rate then apply to texts, and the parallelism of"
          + " the dedup is at most the number of scopes. Fixed for the life of the state";

  public static final String TTL = "ttl";
  public static final String TTL_TEXT =
      "Time after which a key expires, at least 1s; a key may live up to an eighth longer. The"
          + " length may change at any restart. A TTL cannot be added or removed";

  public static final String TTL_CLOCK = "ttl-clock";
  public static final String TTL_CLOCK_TEXT =
      "Clock of the TTL: event (the watermark) or processing (the system clock). Fixed for the life"
          + " of the state";

  public static final String TTL_SINCE = "ttl-since";
  public static final String TTL_SINCE_TEXT =
      "Event from which the TTL is measured: first-seen (the accepted event) or last-seen (the"
          + " latest event, including duplicates). Fixed for the life of the state";

  public static final String SHARDS = "dedup-shards";
  public static final String SHARDS_TEXT =
      "Number of shards of the filter, a power of two up to 32768; also the maximum parallelism"
          + " of the dedup. Fixed for the life of the state";

  public static final String PAGE_CACHE = "page-cache";
  public static final String PAGE_CACHE_TEXT =
      "Memory per task for the filter's pages if state is not on the heap, as with rocksdb. Best if"
          + " all pages of a task fit. May change at any restart";

  public static final String HASH_KEY_FILE = "hash-key-file";
  public static final String HASH_KEY_FILE_TEXT =
      "File with the secret hash key, 32 hexadecimal digits";

  private DedupSettings() {}
}
