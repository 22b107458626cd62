package io.firstseen.faults;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;

/**
 * The results of a run.
 *
 * @param restarts processes that ended unexpectedly and were restarted
 * @param doubled outcomes that came twice
 * @param missing events without an outcome
 * @param wrong outcomes that differ from the model
 * @param disordered outcomes that came before an earlier one of their key
 * @param dropped new keys that the filter reported as duplicates, as in the model
 * @param expectedDropped the expected number of drops by the formula of the filter
 * @param manifests how many were compared with the model
 * @param consumerSnapshots snapshots that the consumer served
 * @param consumerAsked the number of queries for live keys
 * @param consumerFalsePositiveRate share of other keys that were present
 * @param consumerRefused records that the consumer rejected
 * @param serviceAsked the number of queries of the service for live keys
 * @param longestGapSeconds without a committed outcome
 * @param faults what happened, in order
 * @param differences the differences from the model; empty if there are none
 */
record Report(
    long seed,
    int kills,
    int restarts,
    double seconds,
    int events,
    long doubled,
    long missing,
    long wrong,
    long disordered,
    int dropped,
    double expectedDropped,
    long manifests,
    long consumerSnapshots,
    long consumerAsked,
    double consumerFalsePositiveRate,
    long consumerRefused,
    long serviceAsked,
    double longestGapSeconds,
    List<Happened> faults,
    List<String> differences) {

  /**
   * A fault.
   *
   * @param fault its name
   * @param overlaps whether the pipeline had not recovered from the previous fault
   * @param heldSeconds until the fault was taken back
   * @param outputSeconds from its beginning until an event sent after it was committed
   * @param snapshotsSeconds from its beginning until a snapshot was published after its end
   * @param consumerSeconds the same until the consumer served such a snapshot
   * @param serviceSeconds the same for the service
   * @param gapSeconds the longest time without a committed outcome
   */
  record Happened(
      String fault,
      boolean overlaps,
      double heldSeconds,
      double outputSeconds,
      double snapshotsSeconds,
      double consumerSeconds,
      double serviceSeconds,
      double gapSeconds) {}

  boolean isGood() {
    return differences.isEmpty();
  }

  /** For people. */
  String text() {
    Map<String, List<Happened>> byFault =
        faults.stream().collect(groupingBy(Happened::fault, TreeMap::new, toList()));
    StringBuilder text =
        new StringBuilder(
            """

            | fault | count | duration, s | output after, s: median | max \
            | snapshots after, s: median | max |
            |---|---:|---:|---:|---:|---:|---:|
            """);
    byFault.forEach(
        (fault, all) ->
            text.append(
                "| %s | %d | %.1f | %.1f | %.1f | %.1f | %.1f |\n"
                    .formatted(
                        fault,
                        all.size(),
                        median(all, Happened::heldSeconds),
                        median(all, Happened::outputSeconds),
                        most(all, Happened::outputSeconds),
                        median(all, Happened::snapshotsSeconds),
                        most(all, Happened::snapshotsSeconds))));
    text.append(
        """

        %,d events in %.0f s, %d faults, including %d kills; %d processes ended unexpectedly; \
        seed %d
        outcomes: %d duplicated, %d missing, %d wrong, %d out of order; the filter dropped %d new \
        keys, as in the model (formula: %.1f)
        snapshots: %,d manifests compared with the model; the consumer served %,d of them, was \
        queried for %,d live keys (false-positive rate %.5f), and rejected %d records; the service \
        was queried for %,d live keys
        longest time without a committed outcome: %.1f s
        """
            .formatted(
                events,
                seconds,
                faults.size(),
                kills,
                restarts,
                seed,
                doubled,
                missing,
                wrong,
                disordered,
                dropped,
                expectedDropped,
                manifests,
                consumerSnapshots,
                consumerAsked,
                consumerFalsePositiveRate,
                consumerRefused,
                serviceAsked,
                longestGapSeconds));
    return text.toString();
  }

  private static double median(List<Happened> all, ToDoubleFunction<Happened> figure) {
    double[] sorted = known(all, figure).sorted().toArray();
    return sorted.length == 0 ? Double.NaN : sorted[sorted.length / 2];
  }

  private static double most(List<Happened> all, ToDoubleFunction<Happened> figure) {
    return known(all, figure).max().orElse(Double.NaN);
  }

  private static DoubleStream known(List<Happened> all, ToDoubleFunction<Happened> figure) {
    return all.stream().mapToDouble(figure).filter(seconds -> !Double.isNaN(seconds));
  }
}
