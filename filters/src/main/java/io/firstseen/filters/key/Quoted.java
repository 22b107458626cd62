package io.firstseen.filters.key;

/** A value in a message: in quotes, shortened, control characters as code points. */
final class Quoted {
  private static final int MAX_CHARACTERS = 40;

  private Quoted() {}

  static String of(String value) {
    StringBuilder out = new StringBuilder("'");
    int count = 0;
    for (int at = 0; at < value.length(); ) {
      int codePoint = value.codePointAt(at);
      at += Character.charCount(codePoint);
      if (++count > MAX_CHARACTERS) {
        return out.append("…'").toString();
      }
      if (Character.isISOControl(codePoint) || Character.getType(codePoint) == Character.FORMAT) {
        out.append("U+").append("%04X".formatted(codePoint));
      } else {
        out.appendCodePoint(codePoint);
      }
    }
    return out.append('\'').toString();
  }
}
