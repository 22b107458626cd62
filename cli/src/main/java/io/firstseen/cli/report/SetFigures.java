package io.firstseen.cli.report;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.filters.WilsonInterval;

/**
 * The results for one set; bytes are of the whole set, nanoseconds of one operation.
 *
 * @param id the name of the kind in JSON
 * @param title the name of the kind in tables
 * @param requestedRate the configured false-positive rate; 0 for the exact set
 * @param predictedRate the false-positive rate that theory predicts for this number of keys
 * @param falsePositives the number of absent keys for which the set returned present
 * @param probes the number of absent keys
 */
public record SetFigures(
    String id,
    String title,
    double requestedRate,
    int keys,
    long bytes,
    double predictedRate,
    int falsePositives,
    int probes,
    double addNanos,
    double hitNanos,
    double missNanos) {

  /** Whether this is the exact set. */
  public boolean isExact() {
    return requestedRate == 0;
  }

  /** The size of the whole set in bits, divided by its number of keys. */
  public double bitsPerKey() {
    return (double) bytes * Byte.SIZE / keys;
  }

  /** The share of absent keys for which the set returned present. */
  public double measuredRate() {
    return (double) falsePositives / probes;
  }

  /** The confidence interval of the measured false-positive rate. */
  public WilsonInterval interval() {
    return WilsonInterval.of(falsePositives, probes);
  }

  /**
   * The minimum bits per key of any large set with the predicted rate: log2(1 / rate) (Carter,
   * Floyd, Gill, Markowsky, Wegman: Exact and approximate membership testers, STOC 1978).
   */
  public double boundBitsPerKey() {
    return -Math.log(predictedRate) / Math.log(2);
  }

  void addTo(ObjectNode json) {
    json.put("set", id)
        .put("falsePositiveRate", requestedRate)
        .put("bytes", bytes)
        .put("bitsPerKey", bitsPerKey());
    if (!isExact()) {
      json.put("boundBitsPerKey", boundBitsPerKey());
    }
    json.put("predictedFalsePositiveRate", predictedRate)
        .put("falsePositives", falsePositives)
        .put("measuredFalsePositiveRate", measuredRate())
        .put("intervalLow", interval().low())
        .put("intervalHigh", interval().high())
        .put("addNanos", addNanos)
        .put("hitNanos", hitNanos)
        .put("missNanos", missNanos);
  }
}
