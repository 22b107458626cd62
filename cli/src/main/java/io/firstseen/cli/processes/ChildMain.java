package io.firstseen.cli.processes;

import java.io.IOException;
import java.util.Arrays;

/**
 * Runs another main class and ends the JVM when standard input ends, which it does when the process
 * that started this one is gone. So nobody has to look for processes that were left behind.
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
      // As good as the end.
    }
    System.exit(0);
  }
}
