package io.firstseen.operators.restores;

import java.io.Serializable;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Leads the functions of a job, which Flink serialises, back to an object of the test in this JVM.
 *
 * @param <T> type of the object
 */
final class InTest<T> implements Serializable {
  private static final long serialVersionUID = 1;
  private static final Map<Integer, Object> OBJECTS = new ConcurrentHashMap<>();
  private static final AtomicInteger NEXT = new AtomicInteger();

  private final int number;

  private InTest(int number) {
    this.number = number;
  }

  static <T> InTest<T> of(T object) {
    InTest<T> reference = new InTest<>(NEXT.incrementAndGet());
    OBJECTS.put(reference.number, object);
    return reference;
  }

  @SuppressWarnings("unchecked") // Put there under this number by of.
  T get() {
    return (T) OBJECTS.get(number);
  }
}
