package io.firstseen.cli.report;

import java.io.StringWriter;
import java.math.BigDecimal;
import java.math.RoundingMode;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/** Writes one SVG picture, element by element. Numbers are rounded to hundredths. */
final class SvgWriter {
  private static final String NAMESPACE = "http://www.w3.org/2000/svg";

  private final StringWriter text = new StringWriter();
  private final XMLStreamWriter xml;

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

  /** An element around what follows up to {@link #close}; names and values take turns. */
  SvgWriter open(String element, Object... attributes) {
    try {
      xml.writeCharacters("\n");
      xml.writeStartElement(element);
    } catch (XMLStreamException e) {
      throw cannotHappen(e);
    }
    return attributes(attributes);
  }

  SvgWriter close() {
    try {
      xml.writeEndElement();
    } catch (XMLStreamException e) {
      throw cannotHappen(e);
    }
    return this;
  }

  /** An element with nothing in it. */
  SvgWriter element(String element, Object... attributes) {
    return open(element, attributes).close();
  }

  /** An element with text in it. */
  SvgWriter text(String element, String content, Object... attributes) {
    open(element, attributes);
    try {
      xml.writeCharacters(content);
    } catch (XMLStreamException e) {
      throw cannotHappen(e);
    }
    return close();
  }

  /** The whole picture; nothing can be written after it. */
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

  /** Attributes of the element that was opened last, before anything is in it. */
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

  /** As a picture's numbers are written. */
  static String number(double number) {
    return BigDecimal.valueOf(number)
        .setScale(2, RoundingMode.HALF_EVEN)
        .stripTrailingZeros()
        .toPlainString();
  }

  private static IllegalStateException cannotHappen(XMLStreamException e) {
    return new IllegalStateException("a string takes all that is written", e);
  }
}
