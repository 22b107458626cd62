package io.firstseen.events;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.firstseen.filters.key.Canonicaliser;
import java.util.Optional;
import java.util.regex.Pattern;

/** Detects columns in lines that should contain one key each. */
public final class KeyLine {
  private static final Pattern EVENT = Pattern.compile("[0-9]+\t(add|del|delete)\t");

  private static final Pattern SPACE = Pattern.compile("[ \t]");

  private KeyLine() {}

  /**
   * Returns the reason why a line is not one key: it parses as a TSV event, or it contains white
   * space and keys are URLs. Canonicalisation would remove a tab and escape a space. Version 2 of
   * the canonicaliser for lists rejects columns itself.
   */
  public static Optional<String> problem(byte[] line, Canonicaliser canonicaliser) {
    String text = new String(line, ISO_8859_1);
    if (EVENT.matcher(text).lookingAt()) {
      return Optional.of("the line is a TSV event, which run and bootstrap read with --format tsv");
    }
    boolean hasColumns =
        canonicaliser.is(Canonicaliser.URL)
            ? SPACE.matcher(text.strip()).find()
            : canonicaliser.is(Canonicaliser.URL_EXPRESSION)
                && canonicaliser.version() == 1
                && Canonicaliser.hasColumns(line);
    return hasColumns
        ? Optional.of(
            "the line has white space, as between columns or before a comment: pass only the "
                + "column of the key, as cut -f1 does (snapshot build: --column), and write a "
                + "space of a URL as %20")
        : Optional.empty();
  }

  /** Whether a line is blank, or a comment of a list. */
  public static boolean isBlankOrComment(byte[] line, Canonicaliser canonicaliser) {
    return canonicaliser.is(Canonicaliser.URL_EXPRESSION)
        ? Canonicaliser.isCommentOfList(line)
        : new String(line, ISO_8859_1).trim().isEmpty();
  }
}
