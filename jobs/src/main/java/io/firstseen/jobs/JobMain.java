package io.firstseen.jobs;

import io.firstseen.jobs.kafka.Continued;
import io.firstseen.jobs.kafka.JobNeeds;
import io.firstseen.jobs.kafka.KafkaSinks;
import io.firstseen.jobs.kafka.KafkaSources;
import io.firstseen.jobs.kafka.Preflight;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KafkaOptions;
import io.firstseen.jobs.options.Suggestions;
import io.firstseen.operators.UserErrorException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;

/** Builds and executes a job of a command line on Kafka, and reports user errors on one line. */
public final class JobMain {

  private JobMain() {}

  @Command(
      mixinStandardHelpOptions = true,
      abbreviateSynopsis = true,
      footerHeading = "%nExamples:%n")
  abstract static class Arguments {
    @Mixin KafkaOptions kafka;

    abstract JobNeeds needs();
  }

  static void run(Arguments arguments, String[] words, String jobName) throws Exception {
    run(
        arguments,
        words,
        env -> {
          JobNeeds needs = arguments.needs();
          warnOfHashKeys(needs.options());
          buildOnKafka(env, needs.job(), needs.kafka(), needs.options());
        },
        jobName);
  }

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

  static JobNeeds check(Arguments arguments, String[] words) {
    new CommandLine(arguments).parseArgs(words);
    JobNeeds needs = arguments.needs();
    build(
        env -> {
          check(needs);
          build(env, needs, Continued.NOTHING);
        },
        StreamExecutionEnvironment.getExecutionEnvironment());
    return needs;
  }

  /**
   * Adds a job to the environment, reading from and writing to Kafka. Checks the options and the
   * brokers, creates missing topics, and sets up checkpoints.
   *
   * @throws UserErrorException if options contradict each other, or the broker or a topic does not
   *     meet the job's needs
   * @throws IllegalArgumentException if an option is out of its bounds
   */
  public static void buildOnKafka(
      StreamExecutionEnvironment env, JobNeeds.Job job, KafkaOptions kafka, JobOptions options) {
    JobNeeds needs = new JobNeeds(job, kafka, options);
    check(needs);
    Continued continued = Preflight.require(needs, JobEnvironment.restoredFrom(env));
    JobEnvironment.configureCheckpoints(env, kafka);
    build(env, needs, continued);
  }

  private static void check(JobNeeds needs) {
    needs.kafka().check();
    if (needs.job().dedups()) {
      DedupJob.check(needs.kafka(), needs.options());
    }
    if (needs.job().publishes()) {
      SnapshotJob.check(needs.kafka(), needs.options());
    }
  }

  private static void build(StreamExecutionEnvironment env, JobNeeds needs, Continued continued) {
    KafkaOptions kafka = needs.kafka();
    JobOptions options = needs.options();
    Duration maxAhead = options.maxAhead();
    Optional<String> restoredFrom = JobEnvironment.restoredFrom(env);
    switch (needs.job()) {
      case DEDUP ->
          DedupJob.build(
              env,
              KafkaSources.events(kafka, maxAhead),
              KafkaSinks.outcomes(kafka, options, continued),
              options);
      case SNAPSHOTS ->
          SnapshotJob.build(
              env,
              KafkaSources.acceptedChangelog(kafka, maxAhead, continued.retention()),
              KafkaSinks.snapshots(kafka, options, true, restoredFrom, continued),
              options,
              SnapshotJob.publication(options, continued));
      case PIPELINE ->
          PipelineJob.build(
              env,
              KafkaSources.events(kafka, maxAhead),
              KafkaSinks.outcomes(kafka, options, continued),
              KafkaSinks.snapshots(kafka, options, false, restoredFrom, continued),
              options,
              SnapshotJob.publication(options, continued));
      case NONE -> throw new IllegalArgumentException("a client has no job");
    }
  }

  private static void build(
      Consumer<StreamExecutionEnvironment> build, StreamExecutionEnvironment env) {
    try {
      build.accept(env);
    } catch (IllegalArgumentException e) {
      throw new UserErrorException(e.getMessage());
    }
  }

  private static void warnOfHashKeys(JobOptions options) {
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
