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
 * Runs the {@code main} of a job: parses options, builds and executes the job, and reports a user
 * error in one line.
 */
final class JobMain {

  private JobMain() {}

  /**
   * Parses the arguments, builds the job and executes it, by the name of Flink's {@code
   * pipeline.name} if that is set.
   *
   * <p>A user error is one line on standard error. If the JVM was started for this job, it then
   * exits with status 2. Elsewhere (Flink's client, or a cluster's REST endpoint, which an exit
   * would stop) the error is thrown.
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
      refuse(Suggestions.sentence(e));
    } catch (Exception e) {
      refuse(UserErrorException.sentence(e).orElseThrow(() -> e));
    }
  }

  /**
   * Parses the arguments, and builds the job without executing it.
   *
   * @throws ParameterException if an argument is wrong
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

  /** Warns if a hash key is the public one where it should be secret, or goes with the job. */
  static void warnOfHashKeys(JobOptions options) {
    options.publicKeyWarning().ifPresent(text -> System.err.println("warning: " + text));
    if (options.hasSecretHashKey() && !options.stream().isHashKeyOnWorkers()) {
      System.err.println(
          "warning: the hash key goes with the job, so whoever can read the cluster's files of the"
              + " job has it (--hash-key-on-workers keeps it out)");
    }
  }

  private static void refuse(String sentence) {
    String line = sentence.lines().findFirst().orElse("unknown option");
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
