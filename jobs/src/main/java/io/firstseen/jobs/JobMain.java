package io.firstseen.jobs;

import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.Suggestions;
import io.firstseen.operators.UserErrorException;
import java.util.function.Consumer;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;

/**
 * Runs the {@code main} of a job: parses options, builds and executes the job, and reports user
 * errors on one line.
 */
final class JobMain {

  private JobMain() {}

  /**
   * Parses the arguments, builds the job and executes it, under the name in Flink's {@code
   * pipeline.name} if it is set.
   *
   * <p>A user error is printed on one line to standard error. If the JVM was started for this job,
   * the JVM then exits with status 2. Otherwise (in Flink's client, or in a cluster's REST
   * endpoint, which an exit would stop) the method throws the error.
   */
  static void run(
      Object arguments, String[] words, Consumer<StreamExecutionEnvironment> build, String jobName)
      throws Exception {
    try {
      CommandLine commandLine = new CommandLine(arguments);
      if (CommandLine.printHelpIfRequested(commandLine.parseArgs(words))) {
        return;
      }
      StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
      build(build, env);
      env.execute(env.getConfiguration().getOptional(PipelineOptions.NAME).orElse(jobName));
    } catch (ParameterException e) {
      fail(Suggestions.sentence(e));
    } catch (Exception e) {
      fail(UserErrorException.sentence(e).orElseThrow(() -> e));
    }
  }

  /**
   * Parses the arguments, and builds the job without executing it.
   *
   * @throws ParameterException if an argument is invalid
   * @throws UserErrorException if the job cannot be built with the arguments
   */
  static void check(Object arguments, String[] words, Consumer<StreamExecutionEnvironment> build) {
    new CommandLine(arguments).parseArgs(words);
    build(build, StreamExecutionEnvironment.getExecutionEnvironment());
  }

  private static void build(
      Consumer<StreamExecutionEnvironment> build, StreamExecutionEnvironment env) {
    try {
      build.accept(env);
    } catch (IllegalArgumentException e) {
      throw new UserErrorException(e.getMessage());
    }
  }

  /**
   * Warns if a hash key that should be secret is the public key, or if the job contains the key.
   */
  static void warnOfHashKeys(JobOptions options) {
    options.publicKeyWarning().ifPresent(text -> System.err.println("warning: " + text));
    if (options.hasSecretHashKey() && !options.stream().isHashKeyOnWorkers()) {
      System.err.println(
          "warning: the job contains the hash key, so anyone who can read the cluster's files of "
              + "the job can read the key (--hash-key-on-workers avoids this)");
    }
  }

  private static void fail(String message) {
    String line = message.lines().findFirst().orElse("unknown option");
    System.err.println("error: " + line);
    if (startedThisJvm()) {
      System.exit(2);
    }
    throw new UserErrorException(line);
  }

  private static boolean startedThisJvm() {
    StackTraceElement[] stack = Thread.currentThread().getStackTrace();
    StackTraceElement first = stack[stack.length - 1];
    return first.getMethodName().equals("main")
        && first.getClassName().startsWith(JobMain.class.getPackageName() + ".");
  }
}
