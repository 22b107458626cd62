package io.firstseen.faults;

import java.util.Locale;

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

  private final boolean isKill;
  private final String meaning;

  Fault(boolean isKill, String meaning) {
    this.isKill = isKill;
    this.meaning = meaning;
  }

  boolean isKill() {
    return isKill;
  }

  String meaning() {
    return meaning;
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
