package io.firstseen.benchmarks.dedup;

import crawlercommons.filters.basic.BasicURLNormalizer;
import crawlercommons.filters.basic.BasicURLNormalizer.IdnNormalization;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.Turns;
import io.firstseen.benchmarks.shared.Url;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import java.util.Arrays;
import java.util.Set;

/** The process that measures the canonicaliser {@code url} against the library behind it. */
final class CanonicaliserRun {
  private static final int WARM_UPS = 5;

  private CanonicaliserRun() {}

  /**
   * @param urls number of different URLs
   * @param rounds measured passes over all URLs, after the warm-up
   */
  record Spec(int urls, int rounds) {}

  /**
   * Nanoseconds per URL, medians of the rounds; ours from bytes to bytes, the library's from string
   * to string.
   */
  record Result(double oursNanos, double libraryNanos) {}

  public static void main(String[] arguments) throws Exception {
    Spec spec = ChildJvm.specification(arguments, Spec.class);
    byte[][] bytes = new byte[spec.urls()][];
    String[] strings = new String[spec.urls()];
    for (int i = 0; i < spec.urls(); i++) {
      bytes[i] = Url.of(i).utf8();
      strings[i] = Url.of(i).toString();
    }
    double[] ours = new double[spec.rounds()];
    double[] library = new double[spec.rounds()];
    for (int round = -WARM_UPS; round < spec.rounds(); round++) {
      double oursNanos = ours(bytes);
      double libraryNanos = library(strings);
      if (round >= 0) {
        ours[round] = oursNanos;
        library[round] = libraryNanos;
      }
    }
    ChildJvm.answer(new Result(Turns.median(ours), Turns.median(library)));
  }

  private static double ours(byte[][] urls) throws InvalidKeyException {
    long start = System.nanoTime();
    for (byte[] url : urls) {
      if (Canonicaliser.URL.canonicalise(url).length != url.length) {
        throw new IllegalStateException("not canonical: " + Arrays.toString(url));
      }
    }
    return (double) (System.nanoTime() - start) / urls.length;
  }

  private static double library(String[] urls) {
    // The same configuration as in the filters module.
    BasicURLNormalizer normalizer =
        BasicURLNormalizer.newBuilder()
            .idnNormalization(IdnNormalization.PUNYCODE)
            .queryParamsToRemove(Set.of())
            .build();
    long start = System.nanoTime();
    for (String url : urls) {
      if (normalizer.filter(url).length() != url.length()) {
        throw new IllegalStateException("not canonical: " + url);
      }
    }
    return (double) (System.nanoTime() - start) / urls.length;
  }
}
