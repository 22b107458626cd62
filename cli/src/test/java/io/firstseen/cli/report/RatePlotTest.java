package io.firstseen.cli.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class RatePlotTest {

  private static SetFigures set(String title, double rate, double bitsPerKey, int falsePositives) {
    return new SetFigures(
        title,
        title,
        rate,
        1000,
        Math.round(bitsPerKey * 1000 / 8),
        rate,
        falsePositives,
        1_000_000,
        1,
        1,
        1);
  }

  private static Document picture(SetFigures... sets) throws Exception {
    String svg = RatePlot.svg(MembershipReportTest.report(sets));
    DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
    factory.setNamespaceAware(true);
    return factory.newDocumentBuilder().parse(new ByteArrayInputStream(svg.getBytes(UTF_8)));
  }

  private static List<Element> elements(Document picture, String name) {
    NodeList found = picture.getElementsByTagNameNS("http://www.w3.org/2000/svg", name);
    return IntStream.range(0, found.getLength()).mapToObj(i -> (Element) found.item(i)).toList();
  }

  private static double number(Element element, String attribute) {
    return Double.parseDouble(element.getAttribute(attribute));
  }

  private static double[] points(Element element) {
    List<Double> numbers = new ArrayList<>();
    for (String point : element.getAttribute("points").split(" ", -1)) {
      for (String number : point.split(",", -1)) {
        numbers.add(Double.parseDouble(number));
      }
    }
    return numbers.stream().mapToDouble(Double::doubleValue).toArray();
  }

  private static Element text(Document picture, String content) {
    return elements(picture, "text").stream()
        .filter(text -> text.getTextContent().equals(content))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aKindIsALineWhoseRatesAreLogarithmicAndWhoseBitsAreNot() throws Exception {
    Document picture =
        picture(
            set("a & b", 0.01, 10, 10_000),
            set("a & b", 0.001, 14, 1_000),
            set("a & b", 0.0001, 18, 100));
    Element svg = picture.getDocumentElement();
    assertThat(svg.getAttribute("viewBox"))
        .isEqualTo("0 0 " + svg.getAttribute("width") + " " + svg.getAttribute("height"));
    double[] line = points(elements(picture, "polyline").get(0));
    assertThat(line[2] - line[0]).isCloseTo(line[4] - line[2], within(0.02)).isPositive();
    assertThat(line[3] - line[1]).isCloseTo(line[5] - line[3], within(0.02)).isPositive();
    // The marks next to their labels.
    double tens = number(text(picture, "10"), "x");
    assertThat(tens).isCloseTo(line[0], within(0.02));
    assertThat(number(text(picture, "0.1"), "y") - line[3]).isBetween(0.0, 6.0);
  }

  @Test
  void theBoundIsLog2OfTheRate() throws Exception {
    // A set on the bound itself.
    double rate = 0x1p-10;
    Document picture = picture(set("set", 0.01, 12, 10_000), set("set", rate, 10, 977));
    List<Element> lines = elements(picture, "polyline");
    double[] line = points(lines.get(0));
    double[] bound = points(lines.get(lines.size() - 1));
    assertThat(lines.get(lines.size() - 1).hasAttribute("stroke-dasharray")).isTrue();
    assertThat(bound[2]).isCloseTo(line[2], within(0.05));
    assertThat(bound[3]).isCloseTo(line[3], within(0.05));
    // The other set has two bits more than the bound of its rate.
    double bit = (line[0] - line[2]) / 2;
    assertThat((line[0] - bound[0]) / bit)
        .isCloseTo(12 - Math.log(100) / Math.log(2), within(0.01));
  }

  @Test
  void aMeasuredRateHasItsIntervalAndNoRingIfItIsZero() throws Exception {
    Document picture = picture(set("some", 0.01, 10, 10_000), set("none", 0.001, 14, 0));
    List<Element> rings =
        elements(picture, "circle").stream()
            .filter(circle -> circle.getAttribute("fill").equals("white"))
            .toList();
    assertThat(rings).hasSize(1);
    double[] line = points(elements(picture, "polyline").get(0));
    assertThat(number(rings.get(0), "cx")).isCloseTo(line[0], within(0.02));
    assertThat(number(rings.get(0), "cy")).isCloseTo(line[1], within(0.5));
    assertThat(elements(picture, "title"))
        .extracting(Element::getTextContent)
        .contains(
            "some: 10.00 bits per key, predicted 1.000 %, measured 1.000 %",
            "none: 14.00 bits per key, predicted 0.1000 %, measured 0.000 %");
  }

  @Test
  void namesAxesAndKinds() throws Exception {
    Document picture = picture(set("first <kind>", 0.01, 12, 9), set("second", 0.01, 10, 9));
    assertThat(elements(picture, "text"))
        .extracting(Element::getTextContent)
        .contains(
            "first <kind>",
            "second",
            "information bound, log2(1 / rate)",
            "bits per key, of the whole set");
    List<Element> lines = elements(picture, "polyline");
    assertThat(lines).hasSize(3);
    assertThat(lines.get(0).getAttribute("stroke"))
        .isNotEqualTo(lines.get(1).getAttribute("stroke"));
  }

  @Test
  void needsNothingFromOutside() {
    String svg = RatePlot.svg(MembershipReportTest.report(set("set", 0.01, 12, 9)));
    assertThat(svg.replace("xmlns=\"http://www.w3.org/2000/svg\"", ""))
        .doesNotContain("http", "href", "script", "url(", "@import");
  }

  @Test
  void nothingIsOutsideThePictureHoweverOddTheSets() throws Exception {
    Document picture =
        picture(
            set("tiny", 0.05, 40_000, 50_000),
            set("never wrong", 1e-12, 100, 0),
            set("always wrong", 0.1, 3, 1_000_000));
    Element svg = picture.getDocumentElement();
    for (Element line : elements(picture, "line")) {
      for (String end : List.of("1", "2")) {
        assertThat(number(line, "x" + end)).isBetween(0.0, number(svg, "width"));
        assertThat(number(line, "y" + end)).isBetween(0.0, number(svg, "height"));
      }
    }
    for (Element line : elements(picture, "polyline")) {
      assertThat(points(line)[0]).isBetween(0.0, number(svg, "width"));
      assertThat(points(line)[1]).isBetween(0.0, number(svg, "height"));
    }
  }
}
