package io.firstseen.benchmarks.key;

import static java.nio.charset.StandardCharsets.UTF_8;

import crawlercommons.filters.basic.BasicURLNormalizer;
import crawlercommons.filters.basic.BasicURLNormalizer.IdnNormalization;
import io.firstseen.benchmarks.shared.NanosBenchmark;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.InvalidKeyException;
import java.util.Set;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Setup;

/**
 * The time to canonicalise one URL: the canonicaliser {@code url}, from bytes to bytes, against one
 * pass of crawler-commons' normaliser over a string.
 */
@Fork(3)
public class UrlCanonicaliserBenchmark extends NanosBenchmark {
  private static final int URLS = 1 << 12;

  private final BasicURLNormalizer library =
      BasicURLNormalizer.newBuilder()
          .idnNormalization(IdnNormalization.PUNYCODE)
          .queryParamsToRemove(Set.of())
          .build();
  private final String[] texts = new String[URLS];
  private final byte[][] bytes = new byte[URLS][];
  private int next;

  @Param public UrlKind kind;

  /** Makes the URLs and checks that they are of their kind. */
  @Setup
  public void make() throws InvalidKeyException {
    for (int i = 0; i < URLS; i++) {
      texts[i] = kind.url(i);
      bytes[i] = texts[i].getBytes(UTF_8);
      String canonical = new String(Canonicaliser.URL.canonicalise(bytes[i]), UTF_8);
      boolean expected = kind == UrlKind.CANONICAL || kind == UrlKind.CANONICAL_HOST;
      if (canonical.equals(texts[i]) != expected) {
        throw new IllegalStateException(texts[i] + " became " + canonical);
      }
    }
  }

  @Benchmark
  public byte[] firstseen() throws InvalidKeyException {
    next = (next + 1) & (URLS - 1);
    return Canonicaliser.URL.canonicalise(bytes[next]);
  }

  @Benchmark
  public String libraryAlone() {
    next = (next + 1) & (URLS - 1);
    return library.filter(texts[next]);
  }
}
