package io.firstseen.benchmarks.billions;

import io.firstseen.benchmarks.billions.BillionsRun.CheckpointedKeys;
import io.firstseen.benchmarks.billions.BillionsRun.Part;
import io.firstseen.benchmarks.billions.BillionsRun.Result;
import io.firstseen.benchmarks.billions.BillionsRun.Sample;
import io.firstseen.benchmarks.shared.Backend;
import io.firstseen.cli.plot.LinePanels;
import io.firstseen.cli.plot.LinePanels.Point;
import io.firstseen.cli.plot.LinePanels.Style;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/** Rate, bytes, resident memory and checkpoint time against the number of keys. */
final class BillionsPlot {
  private static final int MAX_SAMPLES = 400;

  private BillionsPlot() {}

  static String svg(BillionsRun.Spec spec, Result result) {
    LinePanels panels =
        new LinePanels(
            String.format(
                Locale.ROOT,
                "%,d keys %s, %d task%s",
                result.last().keys(),
                spec.backend() == Backend.HASHMAP ? "on the heap" : "in RocksDB",
                spec.flink().parallelism(),
                spec.flink().parallelism() == 1 ? "" : "s"),
            "million keys",
            false);
    panels.add(
        "million new keys per second",
        false,
        Map.of(
            new Style("rate of each part", "#0072b2", false),
            result.parts().stream().map(BillionsPlot::rate).toList()),
        Map.of());
    panels.add(
        "bytes per key in a checkpoint",
        false,
        Map.of(
            new Style("checkpoints", "#5f5f5f", false),
            checkpoints(result, one -> (double) one.checkpoint().bytes() / one.keys())),
        Map.of());
    Map<Style, List<Point>> memory = new LinkedHashMap<>();
    memory.put(new Style("resident", "#d55e00", false), samples(result, Sample::residentBytes));
    memory.put(
        new Style("heap after a collection", "#d55e00", true), samples(result, Sample::heapBytes));
    panels.add("GB of memory", false, memory, Map.of());
    panels.add(
        "seconds per checkpoint",
        false,
        Map.of(
            new Style("checkpoints", "#5f5f5f", false),
            checkpoints(result, one -> one.checkpoint().millis() / 1e3)),
        Map.of());
    return panels.svg();
  }

  private static Point rate(Part part) {
    return new Point(part.end() / 1e6, part.rate() / 1e6);
  }

  private static List<Point> checkpoints(Result result, ToDoubleFunction<CheckpointedKeys> of) {
    return result.checkpoints().stream()
        .filter(one -> one.keys() > 0)
        .map(one -> new Point(one.keys() / 1e6, of.applyAsDouble(one)))
        .toList();
  }

  private static List<Point> samples(Result result, ToDoubleFunction<Sample> bytes) {
    List<Sample> all = result.samples();
    int step = all.size() / MAX_SAMPLES + 1;
    return IntStream.range(0, (all.size() + step - 1) / step)
        .mapToObj(i -> all.get(i * step))
        .map(sample -> new Point(sample.keys() / 1e6, bytes.applyAsDouble(sample) / 1e9))
        .toList();
  }
}
