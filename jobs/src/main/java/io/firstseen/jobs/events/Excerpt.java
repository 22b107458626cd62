package io.firstseen.jobs.events;

/** Cuts input text for an error message: short, on one line, without control characters. */
final class Excerpt {
  private static final int MAX_CHARS = 120;

  private Excerpt() {}

  static String of(String text) {
    StringBuilder excerpt = new StringBuilder();
    int end = Math.min(text.length(), MAX_CHARS);
    for (int i = 0; i < end; i++) {
      char c = text.charAt(i);
      excerpt.append(Character.isISOControl(c) || Character.isSurrogate(c) ? '?' : c);
    }
    return end < text.length() ? excerpt.append("...").toString() : excerpt.toString();
  }
}
