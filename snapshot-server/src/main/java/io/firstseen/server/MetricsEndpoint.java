package io.firstseen.server;

import io.firstseen.server.http.Endpoint;
import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.Request;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** {@code GET /metrics}: metrics for Prometheus, in the text format that the request accepts. */
final class MetricsEndpoint implements Endpoint {
  private final PrometheusRegistry registry;
  private final ExpositionFormats formats = ExpositionFormats.init();

  MetricsEndpoint(PrometheusRegistry registry) {
    this.registry = registry;
  }

  @Override
  public Reply answer(Request request) throws HttpFailure {
    request.query();
    String accept = request.header("accept");
    ExpositionFormatWriter writer =
        formats.getOpenMetricsTextFormatWriter().accepts(accept)
            ? formats.getOpenMetricsTextFormatWriter()
            : formats.getPrometheusTextFormatWriter();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try {
      writer.write(bytes, registry.scrape());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Reply.of(200, writer.getContentType(), bytes.toByteArray());
  }
}
