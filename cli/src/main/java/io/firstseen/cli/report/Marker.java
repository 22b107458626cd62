package io.firstseen.cli.report;

/**
 * The mark of a kind of set: a shape, and a colour that colour-blind people can distinguish (Okabe,
 * Ito: Color universal design, 2008).
 */
enum Marker {
  CIRCLE("#0072b2") {
    @Override
    void draw(SvgWriter svg, double x, double y) {
      svg.element("circle", "cx", x, "cy", y, "r", 5.5, "fill", colour(), "stroke", "white");
    }
  },
  SQUARE("#d55e00") {
    @Override
    void draw(SvgWriter svg, double x, double y) {
      polygon(svg, x, y, -5, -5, 5, -5, 5, 5, -5, 5);
    }
  },
  TRIANGLE("#009e73") {
    @Override
    void draw(SvgWriter svg, double x, double y) {
      polygon(svg, x, y, 0, -7, 6.5, 5, -6.5, 5);
    }
  },
  DIAMOND("#aa4499") {
    @Override
    void draw(SvgWriter svg, double x, double y) {
      polygon(svg, x, y, 0, -7, 7, 0, 0, 7, -7, 0);
    }
  };

  private final String colour;

  Marker(String colour) {
    this.colour = colour;
  }

  String colour() {
    return colour;
  }

  /** Draws the shape around a point. */
  abstract void draw(SvgWriter svg, double x, double y);

  void polygon(SvgWriter svg, double x, double y, double... corners) {
    StringBuilder points = new StringBuilder();
    for (int i = 0; i < corners.length; i += 2) {
      points.append(i == 0 ? "" : " ");
      points.append(SvgWriter.number(x + corners[i])).append(',');
      points.append(SvgWriter.number(y + corners[i + 1]));
    }
    svg.element("polygon", "points", points, "fill", colour, "stroke", "white");
  }
}
