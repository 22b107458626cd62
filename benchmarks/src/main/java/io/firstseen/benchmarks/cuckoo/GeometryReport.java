package io.firstseen.benchmarks.cuckoo;

import io.firstseen.benchmarks.cuckoo.GeometrySimulation.Geometry;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Prints the costs of geometries of a paged cuckoo filter: load, bits per key and hard limits, from
 * 100 keys to 100 times the estimate. The figures behind ADR 1.
 */
public final class GeometryReport {
  private static final long SEED = 20261120;
  private static final double[] RATES = {0.1, 0.01, 0.001, 0.0001};

  private GeometryReport() {}

  public static void main(String[] arguments) {
    long estimate = arguments.length > 0 ? Long.parseLong(arguments[0]) : 20_000;
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);

    out.println("Load at the first refusal, 200 pages: mean, worst");
    for (int bucketBits : new int[] {7, 8, 9, 10}) {
      out.printf("%5d buckets:", 1 << bucketBits);
      for (int width = 1; width <= 8; width++) {
        Geometry geometry = new Geometry(bucketBits, 1, 8, true, 0, 8);
        double[] load = GeometrySimulation.firstFailure(geometry, width, 200, SEED);
        out.printf("   %d: %.3f %.3f", width, load[0], load[1]);
      }
      out.println();
    }

    List<Geometry> geometries =
        List.of(
            new Geometry(9, 2, 8, true, 512, 8),
            new Geometry(9, 2, 8, false, 512, 8),
            new Geometry(9, 2, 7, true, 512, 8),
            new Geometry(9, 2, 10, true, 512, 8),
            new Geometry(9, 1, 8, true, 256, 8),
            new Geometry(9, 4, 8, true, 256, 8),
            new Geometry(9, 4, 8, true, 1024, 8),
            new Geometry(9, 2, 8, true, 512, 6),
            new Geometry(10, 2, 8, true, 512, 8),
            new Geometry(8, 2, 8, true, 256, 8),
            new Geometry(7, 2, 8, true, 128, 8));
    for (double rate : RATES) {
      for (Geometry geometry : geometries) {
        grow(out, geometry, estimate, rate);
      }
    }
  }

  private static void grow(PrintStream out, Geometry geometry, long estimate, double rate) {
    GeometrySimulation simulation =
        new GeometrySimulation(geometry, GeometrySimulation.identityBitsFor(estimate, rate));
    out.printf(
        "%n%s, rate %s, estimate %,d, P = %d%n",
        geometry, rate, estimate, simulation.identityBits());
    SplittableRandom random = new SplittableRandom(SEED);
    long next = 100;
    long lastSample = 0;
    double sum = 0;
    double least = 1;
    double mostBits = 0;
    double sumBits = 0;
    int samples = 0;
    StringBuilder line = new StringBuilder();
    long last = 100 * estimate;
    for (long n = 1; n <= last; n++) {
      simulation.addIfAbsent(random.nextLong());
      boolean report = n == next || n == estimate;
      if (n == next) {
        next = Long.toString(n).startsWith("1") ? n * 3 : n / 3 * 10;
      }
      if (n >= estimate / 2 && n <= 2 * estimate && n - lastSample >= estimate / 100) {
        lastSample = n;
        double utilisation = simulation.utilisation();
        sum += utilisation;
        least = Math.min(least, utilisation);
        sumBits += simulation.bitsPerKey();
        mostBits = Math.max(mostBits, simulation.bitsPerKey());
        samples++;
      }
      if (report || n == last) {
        line.append(
            "  %,d keys: %.2f used, %.2f bits, widest %d, %.1f %% suppressed;"
                .formatted(
                    n,
                    simulation.utilisation(),
                    simulation.bitsPerKey(),
                    simulation.widest(),
                    100.0 * simulation.suppressed() / n));
      }
    }
    out.println(line);
    out.printf(
        "  from half to twice the estimate: utilisation mean %.3f, least %.3f; bits a key mean %.2f,"
            + " most %.2f; splits end at %,d pages%n",
        sum / samples,
        least,
        sumBits / samples,
        mostBits,
        1L << (simulation.identityBits() - geometry.bucketBits() - geometry.coreBits()));
  }
}
