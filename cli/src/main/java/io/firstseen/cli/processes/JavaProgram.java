package io.firstseen.cli.processes;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A main class to run in a separate JVM.
 *
 * @param main the name of the class
 * @param classPath the class path
 * @param options the options of the JVM
 * @param arguments the arguments of the class
 * @param environment environment variables in addition to the environment of this JVM
 */
public record JavaProgram(
    String main,
    List<Path> classPath,
    List<String> options,
    List<String> arguments,
    Map<String, String> environment) {

  /** The command line. The JVM exits when its standard input ends. */
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
