package io.firstseen.faults;

import java.util.List;
import java.util.concurrent.TimeUnit;

/** Makes faults happen. */
final class Injection {
  private static final long LOST_MILLIS = Pipeline.HEARTBEAT_TIMEOUT.toMillis() + 3000;
  private static final int CUT_MILLIS = 8000;

  private final Pipeline pipeline;

  Injection(Pipeline pipeline) {
    this.pipeline = pipeline;
  }

  /** Makes a fault happen, and takes it back, as far as it does not end by itself. */
  void run(Schedule.Step step) throws Exception {
    switch (step.fault()) {
      case KILL_TASK_MANAGER -> kill(taskManager(step), step);
      case KILL_JOB_MANAGER -> kill("jobmanager", step);
      case KILL_BROKER -> kill("broker", step);
      case KILL_CONSUMER -> kill("consumer", step);
      case KILL_SERVICE -> kill("serve", step);
      case LOSE_CLUSTER -> {
        pipeline.loseCluster();
        hold(step.holdMillis());
        pipeline.startAgain(1 + step.variant() % 3);
      }
      case POWER_CUT -> {
        List<String> names =
            List.of(
                "broker",
                "zookeeper",
                "jobmanager",
                "taskmanager-1",
                "taskmanager-2",
                "consumer",
                "serve");
        for (String name : names) {
          pipeline.part(name).kill();
        }
        hold(step.holdMillis());
        for (String name : names) {
          pipeline.part(name).startWithoutWaiting();
        }
      }
      case FREEZE_TASK_MANAGER -> freeze(taskManager(step), LOST_MILLIS + step.holdMillis());
      case FREEZE_BROKER -> freeze("broker", CUT_MILLIS + step.holdMillis());
      case FULL_CHECKPOINTS -> {
        pipeline.disk().fill();
        hold(CUT_MILLIS + step.holdMillis());
        pipeline.disk().mend();
      }
      case READ_ONLY_CHECKPOINTS -> {
        pipeline.disk().makeReadOnly();
        hold(CUT_MILLIS + step.holdMillis());
        pipeline.disk().mend();
      }
      case CUT_BROKER -> {
        pipeline.brokerProxy().cut();
        hold(CUT_MILLIS + step.holdMillis());
        pipeline.brokerProxy().pass(0);
      }
      case RESET_BROKER -> {
        for (int i = 0; i < 3; i++) {
          pipeline.brokerProxy().reset();
          hold(step.holdMillis() / 3);
        }
      }
      case SLOW_BROKER -> {
        pipeline.brokerProxy().pass(100);
        hold(CUT_MILLIS + step.holdMillis());
        pipeline.brokerProxy().pass(0);
      }
      case CUT_JOB_MANAGER -> {
        pipeline.jobManagerProxy().cut();
        hold(LOST_MILLIS + step.holdMillis());
        pipeline.jobManagerProxy().pass(0);
      }
      case STEP_CLOCK -> {
        int seconds = 1 + step.variant() % 3600;
        pipeline.stepClock(step.variant() % 2 == 0 ? seconds : -seconds);
        hold(CUT_MILLIS + step.holdMillis());
        pipeline.stepClock(0);
      }
      case RESTART_DEDUP -> pipeline.restart(Pipeline.Job.DEDUP, 1 + step.variant() % 3);
      case RESTART_SNAPSHOTS -> pipeline.restart(Pipeline.Job.SNAPSHOTS, 1 + step.variant() % 3);
    }
  }

  private void kill(String name, Schedule.Step step) throws Exception {
    pipeline.part(name).kill();
    hold(step.holdMillis());
    pipeline.part(name).startWithoutWaiting();
  }

  private void freeze(String name, long millis) throws Exception {
    pipeline.part(name).suspend();
    hold(millis);
    pipeline.part(name).resume();
  }

  private static String taskManager(Schedule.Step step) {
    return "taskmanager-" + (1 + step.variant() % 2);
  }

  private static void hold(long millis) throws InterruptedException {
    TimeUnit.MILLISECONDS.sleep(millis);
  }
}
