package io.firstseen.faults;

import io.firstseen.processes.LocalProcess;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.flink.util.function.RunnableWithException;

/** What can happen to the pipeline. */
enum Fault {
  KILL_TASK_MANAGER(true, "SIGKILL for one of two TaskManagers"),
  KILL_JOB_MANAGER(true, "SIGKILL for the JobManager; another one takes over (ZooKeeper)"),
  KILL_BROKER(true, "SIGKILL for the Kafka broker"),
  KILL_CONSUMER(true, "SIGKILL for the Java consumer"),
  KILL_SERVICE(true, "SIGKILL for the HTTP service"),
  LOSE_CLUSTER(
      true,
      "SIGKILL for the whole cluster, which also loses its jobs; they are submitted"
          + " again from their last retained checkpoints"),
  POWER_CUT(true, "SIGKILL for all processes at once"),
  FREEZE_TASK_MANAGER(false, "SIGSTOP for a TaskManager until it is lost, then SIGCONT"),
  FREEZE_BROKER(false, "SIGSTOP for the broker, then SIGCONT"),
  FULL_CHECKPOINTS(false, "no byte is left in the directory of checkpoints"),
  READ_ONLY_CHECKPOINTS(false, "the directory of checkpoints is read-only"),
  CUT_BROKER(false, "nothing arrives between the pipeline and the broker"),
  RESET_BROKER(false, "all connections to the broker are reset, three times"),
  SLOW_BROKER(false, "each piece takes 100 ms between the pipeline and the broker"),
  CUT_JOB_MANAGER(false, "nothing arrives at the JobManager until its TaskManagers are lost"),
  STEP_CLOCK(false, "the clock of a TaskManager steps by up to an hour, and back"),
  RESTART_DEDUP(
      false,
      "the dedup stops with a savepoint, and resumes with other tasks or on the other"
          + " backend"),
  RESTART_SNAPSHOTS(false, "the same with the snapshot job");

  final boolean isKill;
  final String meaning;

  Fault(boolean isKill, String meaning) {
    this.isKill = isKill;
    this.meaning = meaning;
  }

  /** Makes it happen, and takes it back, as far as it does not end by itself. */
  void inject(Pipeline p, Schedule.Step step) throws Exception {
    long hold = step.holdMillis();
    long noticed = Pipeline.NOTICED_MILLIS + hold;
    long lost = Pipeline.LOST_MILLIS + hold;
    LocalProcess taskManager = p.part("taskmanager-" + (1 + step.variant() % 2));
    int parallelism = 1 + step.variant() % 3;
    int seconds = 1 + step.variant() % 3600;
    switch (this) {
      case KILL_TASK_MANAGER -> kill(hold, List.of(taskManager));
      case KILL_JOB_MANAGER -> kill(hold, List.of(p.part("jobmanager")));
      case KILL_BROKER -> kill(hold, List.of(p.part("broker")));
      case KILL_CONSUMER -> kill(hold, List.of(p.part("consumer")));
      case KILL_SERVICE -> kill(hold, List.of(p.part("serve")));
      case LOSE_CLUSTER -> held(hold, p::loseCluster, () -> p.startAgain(parallelism));
      case POWER_CUT -> kill(hold, p.parts());
      case FREEZE_TASK_MANAGER -> held(lost, taskManager::suspend, taskManager::resume);
      case FREEZE_BROKER -> held(noticed, p.part("broker")::suspend, p.part("broker")::resume);
      case FULL_CHECKPOINTS -> held(noticed, p.disk::fill, p.disk::mend);
      case READ_ONLY_CHECKPOINTS -> held(noticed, p.disk::makeReadOnly, p.disk::mend);
      case CUT_BROKER -> held(noticed, p.brokerProxy::cut, () -> p.brokerProxy.pass(0));
      case RESET_BROKER -> {
        for (int i = 0; i < 3; i++) {
          p.brokerProxy.reset();
          TimeUnit.MILLISECONDS.sleep(hold / 3);
        }
      }
      case SLOW_BROKER -> held(noticed, () -> p.brokerProxy.pass(100), () -> p.brokerProxy.pass(0));
      case CUT_JOB_MANAGER -> held(lost, p.jobManagerProxy::cut, () -> p.jobManagerProxy.pass(0));
      case STEP_CLOCK ->
          held(
              noticed,
              () -> p.stepClock(step.variant() % 2 == 0 ? seconds : -seconds),
              () -> p.stepClock(0));
      case RESTART_DEDUP -> p.restart(Pipeline.Job.DEDUP, parallelism);
      case RESTART_SNAPSHOTS -> p.restart(Pipeline.Job.SNAPSHOTS, parallelism);
    }
  }

  private static void held(long millis, RunnableWithException begin, RunnableWithException end)
      throws Exception {
    begin.run();
    TimeUnit.MILLISECONDS.sleep(millis);
    end.run();
  }

  private static void kill(long millis, Collection<LocalProcess> parts) throws Exception {
    parts.forEach(LocalProcess::kill);
    TimeUnit.MILLISECONDS.sleep(millis);
    for (LocalProcess part : parts) {
      part.startWithoutWaiting();
    }
  }

  /** Whether it asks something of the jobs, so that they must run. */
  boolean needsJobs() {
    return this == RESTART_DEDUP || this == RESTART_SNAPSHOTS;
  }

  /** The name on command lines and in reports. */
  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
