package io.firstseen.cli.demo;

/**
 * How often something went wrong, and how often it may.
 *
 * @param name what must not happen, or only rarely
 * @param found how often it happened
 * @param of how often it could have happened
 * @param allowed how often it may happen
 * @param promisedRate the promised maximum of its average rate, as a share; 0 for never
 */
record Check(String name, long found, long of, long allowed, double promisedRate) {

  /** Something that must never happen. */
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
