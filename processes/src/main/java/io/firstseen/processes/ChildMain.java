package io.firstseen.processes;

import java.io.IOException;
import java.util.Arrays;

/**
 * Runs another main class and exits the JVM when standard input ends, which happens when the parent
 * process ends. No orphaned processes remain.
 */
final class ChildMain {

  private ChildMain() {}

  public static void main(String[] words) throws Exception {
    Thread watch = new Thread(ChildMain::exitWithParent, "exit-with-parent");
    watch.setDaemon(true);
    watch.start();
    Class.forName(words[0])
        .getMethod("main", String[].class)
        .invoke(null, (Object) Arrays.copyOfRange(words, 1, words.length));
  }

  private static void exitWithParent() {
    try {
      while (System.in.read() >= 0) {}
    } catch (IOException e) {
      // Treat an error like the end of the input.
    }
    System.exit(0);
  }
}
