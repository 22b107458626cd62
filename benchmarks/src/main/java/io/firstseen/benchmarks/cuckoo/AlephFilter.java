package io.firstseen.benchmarks.cuckoo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/**
 * The Aleph filter (Dayan, Bercea and Pagh, VLDB 2024) in its authors' Java, {@code
 * nivdayan/AlephFilter} on GitHub, Apache License 2.0. It is not on Maven Central: compile it and
 * name its classes, a jar or a directory, by the system property {@value #CLASSES}.
 */
final class AlephFilter implements GrowingFilter {
  static final String CLASSES = "aleph.classes";

  /** It starts with this many slots, to the base 2, and doubles at a load of 0.8. */
  private static final int FIRST_SLOTS = 12;

  private static final double FULL = 0.8;
  private static final long[] NO_PAYLOAD = {};

  private final Object filter;
  private long inserted;

  /**
   * An empty filter that is told by how many doublings it will grow.
   *
   * @param fingerprintBits of a new key at the expected number of keys, one of them for its age
   */
  AlephFilter(long expectedKeys, int fingerprintBits) {
    int doublings = 0;
    while (expectedKeys >= Math.scalb(FULL, FIRST_SLOTS + doublings)) {
      doublings++;
    }
    try {
      this.filter = Calls.CREATE.invoke(FIRST_SLOTS, fingerprintBits + 3, false, doublings, 0);
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  static boolean isThere() {
    return System.getProperty(CLASSES) != null;
  }

  /**
   * The fewest bits, from log2(1 / rate) on, with which the rate measured at the expected number of
   * keys is at most the asked one.
   */
  static int fewestFingerprintBits(long[] keys, double rate, long[] strangers) {
    for (int bits = (int) Math.ceil(-Math.log(rate) / Math.log(2)); ; bits++) {
      AlephFilter filter = new AlephFilter(keys.length, bits);
      for (long key : keys) {
        filter.insert(key);
      }
      long found = 0;
      for (long stranger : strangers) {
        found += filter.mightContain(stranger) ? 1 : 0;
      }
      if (found <= rate * strangers.length) {
        return bits;
      }
    }
  }

  @Override
  public void insert(long key) {
    try {
      if (!(boolean) Calls.INSERT.invokeExact(filter, key, false, NO_PAYLOAD)) {
        throw new IllegalStateException("the Aleph filter refused a key");
      }
    } catch (Throwable e) {
      throw failed(e);
    }
    inserted++;
  }

  @Override
  public boolean mightContain(long key) {
    try {
      return (boolean) Calls.SEARCH.invokeExact(filter, key);
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  /** Its reply does not say whether the key was there, so this is always true. */
  @Override
  public boolean delete(long key) {
    try {
      long[] reply = (long[]) Calls.DELETE.invokeExact(filter, key);
      return reply != null;
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  /** Bits of its tables, as it counts them. */
  @Override
  public double bitsPerKey() {
    try {
      double bitsPerInsertion = (double) Calls.BITS.invokeExact(filter);
      long live = (long) Calls.LIVE.invokeExact(filter);
      return bitsPerInsertion * inserted / live;
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  @Override
  public long count() {
    try {
      return (long) Calls.LIVE.invokeExact(filter);
    } catch (Throwable e) {
      throw failed(e);
    }
  }

  private static RuntimeException failed(Throwable e) {
    return new IllegalStateException("the Aleph filter failed: " + e, e);
  }

  /** Constants, so that the compiler can inline the calls. */
  private static final class Calls {
    private static final Class<?> FILTER = load();
    static final MethodHandle CREATE =
        find(
            "",
            MethodType.methodType(
                void.class, int.class, int.class, boolean.class, int.class, int.class));
    static final MethodHandle INSERT =
        find(
            "insert",
            MethodType.methodType(boolean.class, long.class, boolean.class, long[].class));
    static final MethodHandle SEARCH =
        find("search", MethodType.methodType(boolean.class, long.class));
    static final MethodHandle DELETE =
        find("delete", MethodType.methodType(long[].class, long.class));
    static final MethodHandle BITS =
        find("measure_num_bits_per_entry", MethodType.methodType(double.class));
    static final MethodHandle LIVE =
        find("get_num_physical_entries", MethodType.methodType(long.class));

    private static Class<?> load() {
      try {
        URL url = Path.of(System.getProperty(CLASSES)).toUri().toURL();
        // Open until the program ends: classes are loaded when they are first used.
        @SuppressWarnings("resource")
        URLClassLoader loader = new URLClassLoader(new URL[] {url});
        return loader.loadClass("filters.DuplicatingChainedInfiniFilter");
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (ClassNotFoundException e) {
        throw new IllegalStateException(
            CLASSES + " must have the classes of the Aleph filter: " + e, e);
      }
    }

    private static MethodHandle find(String name, MethodType type) {
      try {
        if (name.isEmpty()) {
          return MethodHandles.publicLookup().findConstructor(FILTER, type);
        }
        MethodHandle method = MethodHandles.publicLookup().findVirtual(FILTER, name, type);
        return method.asType(method.type().changeParameterType(0, Object.class));
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }
  }
}
