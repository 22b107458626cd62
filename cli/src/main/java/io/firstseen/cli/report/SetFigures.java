package io.firstseen.cli.report;

import io.firstseen.filters.WilsonInterval;

/**
 * What was found of one set.
 *
 * @param id what programs call its kind
 * @param title what people call its kind
 * @param askedRate the false-positive rate that it was made for; 0 for the exact set
 * @param keys the keys in it
 * @param bytes the size of the whole set
 * @param predictedRate the false-positive rate by its theory, as it was filled
 * @param falsePositives how many of the strangers it claimed
 * @param probes how many strangers it was asked for
 * @param addNanos nanoseconds to add a key, on the mean over filling the whole set
 * @param hitNanos nanoseconds to find a key
 * @param missNanos nanoseconds to answer for a stranger
 */
public record SetFigures(
    String id,
    String title,
    double askedRate,
    int keys,
    long bytes,
    double predictedRate,
    int falsePositives,
    int probes,
    double addNanos,
    double hitNanos,
    double missNanos) {

  /** Whether it makes no mistakes. */
  public boolean isExact() {
    return askedRate == 0;
  }

  /** Bits a key of the whole set. */
  public double bitsPerKey() {
    return (double) bytes * Byte.SIZE / keys;
  }

  /** The share of strangers that it claimed. */
  public double measuredRate() {
    return (double) falsePositives / probes;
  }

  /** Where the false-positive rate lies, by the measurement alone. */
  public WilsonInterval interval() {
    return WilsonInterval.of(falsePositives, probes);
  }

  /**
   * The bits a key that any set of many keys with the predicted rate must have: log2(1 / rate)
   * (Carter, Floyd, Gill, Markowsky, Wegman: Exact and approximate membership testers, STOC 1978).
   */
  public double boundBitsPerKey() {
    return boundBitsPerKey(predictedRate);
  }

  static double boundBitsPerKey(double rate) {
    return -Math.log(rate) / Math.log(2);
  }
}
