package io.firstseen.cli.plot;

import java.io.StringWriter;
import java.math.BigDecimal;
import java.math.RoundingMode;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/** Writes an SVG, element by element. Numbers are rounded to hundredths. */
final class SvgWriter {
  private static final String NAMESPACE = "http://www.w3.org/2000/svg";

  private final StringWriter text = new StringWriter();
  private final XMLStreamWriter xml;

  /** Creates an SVG of this size, in pixels. */
  SvgWriter(int width, int height) {
    try {
      xml = XMLOutputFactory.newDefaultFactory().createXMLStreamWriter(text);
    } catch (XMLStreamException e) {
      throw cannotHappen(e);
    }
    write(() -> xml.writeStartElement("svg"));
    write(() -> xml.writeDefaultNamespace(NAMESPACE));
    attributes("width", width, "height", height, "viewBox", "0 0 " + width + " " + height);
  }

  private interface Step {
    void run() throws XMLStreamException;
  }

  private SvgWriter write(Step step) {
    try {
      step.run();
      return this;
    } catch (XMLStreamException e) {
      throw cannotHappen(e);
    }
  }

  /** Opens an element, up to {@link #close}; attributes alternate names and values. */
  SvgWriter open(String element, Object... attributes) {
    write(() -> xml.writeCharacters("\n"));
    write(() -> xml.writeStartElement(element));
    return attributes(attributes);
  }

  /** Closes the last opened element. */
  SvgWriter close() {
    return write(xml::writeEndElement);
  }

  /** Writes an empty element. */
  SvgWriter element(String element, Object... attributes) {
    return open(element, attributes).close();
  }

  /** Writes an element with text. */
  SvgWriter text(String element, String content, Object... attributes) {
    return open(element, attributes).write(() -> xml.writeCharacters(content)).close();
  }

  /** Returns the complete SVG; nothing can be written afterwards. */
  String finish() {
    write(() -> xml.writeCharacters("\n")).write(xml::writeEndDocument).write(xml::close);
    return text + "\n";
  }

  /** Adds attributes to the last opened element. */
  SvgWriter attributes(Object... attributes) {
    for (int i = 0; i < attributes.length; i += 2) {
      String name = (String) attributes[i];
      Object given = attributes[i + 1];
      String value = given instanceof Double number ? number(number) : given.toString();
      write(() -> xml.writeAttribute(name, value));
    }
    return this;
  }

  /** Formats a number for SVG. */
  static String number(double number) {
    return BigDecimal.valueOf(number)
        .setScale(2, RoundingMode.HALF_EVEN)
        .stripTrailingZeros()
        .toPlainString();
  }

  private static IllegalStateException cannotHappen(XMLStreamException e) {
    return new IllegalStateException("a string writer cannot fail", e);
  }
}
