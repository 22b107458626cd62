package io.firstseen.jobs.options;

import static io.firstseen.jobs.options.OptionValues.reject;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.snapshot.UrlList;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.DedupSettings;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The canonicaliser and the hash key of keys. */
public final class KeyOptions extends HashKeyOptions {

  @Option(
      names = "--" + DedupSettings.CANONICALISER,
      paramLabel = "NAME",
      defaultValue = "none",
      converter = OptionValues.CanonicaliserName.class,
      description =
          DedupSettings.CANONICALISER_TEXT + Bound.IDENTITY_TEXT + " (default: ${DEFAULT-VALUE}).")
  @Bound(Bound.By.IDENTITY)
  private Canonicaliser canonicaliser;

  @Option(
      names = "--" + DedupSettings.STRIP_PARAMETERS,
      paramLabel = "NAME,...",
      converter = OptionValues.StrippedParameters.class,
      description = DedupSettings.STRIP_PARAMETERS_TEXT + Bound.IDENTITY_TEXT + " (default: none).")
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
