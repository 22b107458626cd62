package io.firstseen.cli.plot;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayDeque;
import java.util.Deque;

/** Writes an SVG, element by element. Attributes alternate names and values. */
final class SvgWriter {
  private final StringBuilder svg = new StringBuilder();
  private final Deque<String> opened = new ArrayDeque<>();

  /** Opens an element, up to {@link #close}. */
  SvgWriter open(String element, Object... attributes) {
    svg.append("\n<").append(element);
    for (int i = 0; i < attributes.length; i += 2) {
      Object value =
          attributes[i + 1] instanceof Double number ? number(number) : attributes[i + 1];
      svg.append(" %s=\"%s\"".formatted(attributes[i], escaped(value.toString())));
    }
    svg.append('>');
    opened.push(element);
    return this;
  }

  SvgWriter close() {
    svg.append("</").append(opened.pop()).append('>');
    return this;
  }

  SvgWriter text(String element, String content, Object... attributes) {
    open(element, attributes);
    svg.append(escaped(content));
    return close();
  }

  /** Returns the SVG, whose elements must be closed. */
  String finish() {
    return svg.append('\n').substring(1);
  }

  static String number(double number) {
    return BigDecimal.valueOf(number)
        .setScale(2, RoundingMode.HALF_EVEN)
        .stripTrailingZeros()
        .toPlainString();
  }

  private static String escaped(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("\"", "&quot;");
  }
}
