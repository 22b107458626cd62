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
      xml.writeStartElement("svg");
      xml.writeDefaultNamespace(NAMESPACE);
    } catch (XMLStreamException e) {
      throw cannotHappen(e);
    }
    attributes("width", width, "height", height, "viewBox", "0 0 " + width + " " + height);
  }

  /** Opens an element, up to {@link #close}; attributes alternate names and values. */
  SvgWriter open(String element, Object... attributes) {
    try {
      xml.writeCharacters("\n");
      xml.writeStartElement(element);
    } catch (XMLStreamException e) {
      throw cannotHappen(e);
    }
    return attributes(attributes);
  }

  /** Closes the last opened element. */
  SvgWriter close() {
    try {
      xml.writeEndElement();
    } catch (XMLStreamException e) {
      throw cannotHappen(e);
    }
    return this;
  }

  /** Writes an empty element. */
  SvgWriter element(String element, Object... attributes) {
    return open(element, attributes).close();
  }

  /** Writes an element with text. */
  SvgWriter text(String element, String content, Object... attributes) {
    open(element, attributes);
    try {
      xml.writeCharacters(content);
    } catch (XMLStreamException e) {
      throw cannotHappen(e);
    }
    return close();
  }

  /** Returns the complete SVG; nothing can be written afterwards. */
  String finish() {
    try {
      xml.writeCharacters("\n");
      xml.writeEndDocument();
      xml.close();
    } catch (XMLStreamException e) {
      throw cannotHappen(e);
    }
    return text + "\n";
  }

  /** Adds attributes to the last opened element. */
  SvgWriter attributes(Object... attributes) {
    try {
      for (int i = 0; i < attributes.length; i += 2) {
        xml.writeAttribute((String) attributes[i], value(attributes[i + 1]));
      }
    } catch (XMLStreamException e) {
      throw cannotHappen(e);
    }
    return this;
  }

  private static String value(Object value) {
    return value instanceof Double number ? number(number) : value.toString();
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
