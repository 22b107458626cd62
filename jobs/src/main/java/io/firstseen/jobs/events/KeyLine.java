package io.firstseen.jobs.events;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.firstseen.filters.key.Canonicaliser;
import java.util.Optional;
import java.util.regex.Pattern;

/** Finds columns in lines that should be one key each. */
public final class KeyLine {
  private static final Pattern EVENT = Pattern.compile("[0-9]+\t(add|del|delete)\t");

  private static final Pattern COSMETIC = Pattern.compile("#[@?$%]*#([^\\s#]|#[^\\s#])");
  private static final Pattern COMMENT = Pattern.compile("[ \t]+#.*");
  private static final Pattern HOSTS_FILE =
      Pattern.compile("([0-9]+[.]){3}[0-9]+[ \t]|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*[ \t]");

  private KeyLine() {}

  /**
   * Why a line is not one key: it reads as a TSV event, or it has a tab inside and keys are URLs,
   * from which canonicalisation would remove the tab. Lines of hosts files and comments behind
   * entries of lists may have tabs.
   */
  public static Optional<String> problem(byte[] line, Canonicaliser canonicaliser) {
    int columns = 1;
    for (byte b : line) {
      columns += b == '\t' ? 1 : 0;
    }
    if (columns == 1) {
      return Optional.empty();
    }
    String text = new String(line, ISO_8859_1);
    if (EVENT.matcher(text).lookingAt()) {
      return Optional.of("the line is a TSV event, which run and bootstrap read with --format tsv");
    }
    return hasColumns(text.strip(), canonicaliser)
        ? Optional.of(
            "the line has "
                + columns
                + " tab-separated columns, pass only the column of the key, such as by cut -f1")
        : Optional.empty();
  }

  /** Whether a line is blank, or a comment of a list. */
  public static boolean isBlankOrComment(byte[] line, Canonicaliser canonicaliser) {
    int start = 0;
    while (start < line.length && line[start] >= 0 && line[start] <= ' ') {
      start++;
    }
    boolean isList = canonicaliser.equals(Canonicaliser.URL_EXPRESSION);
    return start == line.length
        || (isList && (line[start] == '#' || line[start] == '!') && !isFilter(line, start));
  }

  /** Whether a line is a cosmetic filter, such as {@code ##.ad}, not a comment. */
  private static boolean isFilter(byte[] line, int start) {
    return COSMETIC.matcher(new String(line, start, line.length - start, ISO_8859_1)).lookingAt();
  }

  private static boolean hasColumns(String line, Canonicaliser canonicaliser) {
    if (canonicaliser.equals(Canonicaliser.URL_EXPRESSION)) {
      // The rule itself reads lines of hosts files, and comments.
      boolean comment = line.startsWith("#") || line.startsWith("!");
      String entry = COMMENT.matcher(line).replaceFirst("");
      return !comment && !HOSTS_FILE.matcher(entry).lookingAt() && entry.indexOf('\t') >= 0;
    }
    return canonicaliser.id().equals(Canonicaliser.URL.id()) && line.indexOf('\t') >= 0;
  }
}
