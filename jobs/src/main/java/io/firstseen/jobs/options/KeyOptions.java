package io.firstseen.jobs.options;

import static io.firstseen.jobs.options.OptionValues.reject;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.snapshot.UrlList;
import io.firstseen.operators.UserErrorException;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The canonicaliser and the hash key of keys. */
public final class KeyOptions extends HashKeyOptions {

  @Option(
      names = "--canonicaliser",
      paramLabel = "NAME",
      defaultValue = "none",
      converter = OptionValues.CanonicaliserName.class,
      description =
          "Rule that maps spellings of a key to one key: none (bytes unchanged), url, text, or"
              + " url-expression (entries of lists of hosts and URLs); url-2 and url-expression-1"
              + " are older versions, for older state. Fixed for the life of the state and of the"
              + " set; SnapshotJob fails unless its value matches the dedup job's (default:"
              + " ${DEFAULT-VALUE}).")
  @Bound(Bound.By.IDENTITY)
  private Canonicaliser canonicaliser;

  @Option(
      names = "--strip-parameters",
      paramLabel = "NAME,...",
      converter = OptionValues.StrippedParameters.class,
      description =
          "Query parameters that are removed from URLs, such as utm_*,gclid; a trailing * matches "
              + "any suffix, and the name common stands for the list of tracking parameters in "
              + "docs/format/url-v3.md. Fixed for the life of the state and of the set; "
              + "SnapshotJob fails unless its value matches the dedup job's. Needs "
              + "--canonicaliser url (default: none).")
  @Bound(Bound.By.IDENTITY)
  private String strippedParameters;

  KeyOptions() {}

  /**
   * The rule that makes different spellings one key.
   *
   * @throws UserErrorException if parameters are to be stripped from keys that are not URLs
   */
  public Canonicaliser canonicaliser() {
    if (strippedParameters == null) {
      return canonicaliser;
    }
    reject(
        !canonicaliser.is(Canonicaliser.URL),
        "--strip-parameters needs --canonicaliser url, got " + canonicaliser.id());
    return canonicaliser.stripping(strippedParameters);
  }

  /** A false-positive rate: an option for messages, and its value or null if it is not given. */
  public record Rate(String name, @Nullable Double value) {}

  /**
   * The false-positive rate of one key of a set, from one of two options; empty if neither is
   * given.
   *
   * @param ofKey the option for the rate of one key
   * @param ofUrl the option for the highest rate of one URL, of which all match expressions are
   *     looked up
   * @throws UserErrorException if both are given, or if {@code ofUrl} is given for a set that is
   *     not a list of match expressions
   */
  public OptionalDouble keyRate(Rate ofKey, Rate ofUrl) {
    if (ofUrl.value() == null) {
      return ofKey.value() == null ? OptionalDouble.empty() : OptionalDouble.of(ofKey.value());
    }
    reject(ofKey.value() != null, ofKey.name() + " and " + ofUrl.name() + " exclude each other");
    reject(
        !canonicaliser.is(Canonicaliser.URL_EXPRESSION),
        "%s needs --canonicaliser url-expression, got %s"
            .formatted(ofUrl.name(), canonicaliser.id()));
    return OptionalDouble.of(UrlList.keyRateFor(ofUrl.value()));
  }
}
