package io.firstseen.cli.demo;

/**
 * The number of errors of a kind, and its limit.
 *
 * @param name the kind of error
 * @param found the number of errors
 * @param of the number of cases in which the error was possible
 * @param allowed the maximum number of errors
 * @param promisedRate the promised maximum of the average rate, as a share; 0 for never
 */
record Check(String name, long found, long of, long allowed, double promisedRate) {

  static Check never(String name, long found, long of) {
    return new Check(name, found, of, 0, 0);
  }

  boolean holds() {
    return found <= allowed;
  }

  double measuredRate() {
    return of == 0 ? 0 : (double) found / of;
  }
}
