package io.firstseen.cli.processes;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A class with a {@code main} to run in a JVM of its own.
 *
 * @param main the name of the class
 * @param classPath where it is, with everything that it needs
 * @param options of the JVM
 * @param arguments of the class
 * @param environment variables that it gets beside those of this JVM
 */
public record JavaProgram(
    String main,
    List<Path> classPath,
    List<String> options,
    List<String> arguments,
    Map<String, String> environment) {

  /** The words that start it. The JVM ends when its standard input does. */
  List<String> words() {
    List<String> words = new ArrayList<>();
    words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    words.add("-XX:+ExitOnOutOfMemoryError");
    words.addAll(options);
    words.add("-cp");
    words.add(String.join(File.pathSeparator, classPath.stream().map(Path::toString).toList()));
    words.add(ChildMain.class.getName());
    words.add(main);
    words.addAll(arguments);
    return words;
  }
}
