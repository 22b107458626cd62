package io.firstseen.cli.up;

import io.firstseen.cli.processes.FlinkRest;
import io.firstseen.cli.processes.LocalProcess;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** Restarts processes and jobs that have ended, in the order in which they were added. */
final class Supervisor {
  private static final long POLL_MILLIS = 1_000;
  private static final int UNKNOWN_STATUS = -1;
  private static final Duration MIN_DELAY = Duration.ofSeconds(1);

  /** The maximum delay. A part that has run for this long starts again with the minimum delay. */
  private static final Duration MAX_DELAY = Duration.ofMinutes(1);

  /** A broker that has just started may reject a job for half a minute. */
  private static final int JOB_ATTEMPTS = 5;

  private final Consumer<String> messages;
  private final List<Part> parts = new ArrayList<>();

  /** Reports to {@code messages} which part ended, why, and when it is restarted. */
  Supervisor(Consumer<String> messages) {
    this.messages = messages;
  }

  /** Submits a job. */
  interface JobStarter {
    /** Returns the id of the job, which may not be running yet. */
    String start() throws Exception;
  }

  void add(LocalProcess process) {
    add(process, UNKNOWN_STATUS);
  }

  /** Adds a process that exits with a known status if its options are invalid. */
  void add(LocalProcess process, int statusOfMistakes) {
    parts.add(new ProcessPart(process, statusOfMistakes));
  }

  void addJob(String name, FlinkRest rest, String id, JobStarter starter) {
    parts.add(new JobPart(name, rest, id, starter));
  }

  /** Watches all parts until the thread is interrupted. */
  void run() throws Exception {
    while (true) {
      for (Part part : parts) {
        check(part);
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
  }

  private void check(Part part) throws Exception {
    if (!part.ended) {
      part.failure().ifPresent(failure -> startLater(part, failure));
    } else if (System.nanoTime() - part.endedNanos > part.delay.toNanos()) {
      part.startedNanos = System.nanoTime();
      try {
        part.start();
        part.ended = false;
      } catch (IOException e) {
        startLater(part, "cannot be started: " + e.getMessage());
      }
    }
  }

  private void startLater(Part part, String failure) {
    part.ended = true;
    part.endedNanos = System.nanoTime();
    boolean ranForLong = part.endedNanos - part.startedNanos > MAX_DELAY.toNanos();
    Duration next = ranForLong ? MIN_DELAY : part.delay.multipliedBy(2);
    part.delay = next.compareTo(MAX_DELAY) < 0 ? next : MAX_DELAY;
    messages.accept(
        "%s %s; next start in %s".formatted(part.name, failure, OptionValues.write(part.delay)));
  }

  private abstract static class Part {
    final String name;
    private boolean ended;
    private long endedNanos;
    private long startedNanos = System.nanoTime();
    private Duration delay = MIN_DELAY.dividedBy(2);

    Part(String name) {
      this.name = name;
    }

    /**
     * The reason why the part is no longer running; empty if it is running, or if the reason is
     * unknown.
     */
    abstract Optional<String> failure() throws IOException;

    abstract void start() throws Exception;
  }

  private static final class ProcessPart extends Part {
    private final LocalProcess process;
    private final int statusOfMistakes;

    ProcessPart(LocalProcess process, int statusOfMistakes) {
      super(process.name());
      this.process = process;
      this.statusOfMistakes = statusOfMistakes;
    }

    @Override
    Optional<String> failure() {
      if (process.isAlive()) {
        return Optional.empty();
      }
      int status = process.exited().join();
      String failure =
          "has ended with status %d (the last line of %s: %s)"
              .formatted(status, process.log(), process.tail(1));
      if (status == statusOfMistakes) {
        throw new UserErrorException(name + " " + failure);
      }
      return Optional.of(failure);
    }

    @Override
    void start() throws IOException {
      process.startWithoutWaiting();
    }
  }

  private static final class JobPart extends Part {
    private final FlinkRest rest;
    private final JobStarter starter;
    private String id;
    private boolean isOver;
    private int rejections;

    JobPart(String name, FlinkRest rest, String id, JobStarter starter) {
      super(name);
      this.rest = rest;
      this.id = id;
      this.starter = starter;
    }

    @Override
    Optional<String> failure() {
      try {
        Map<String, String> states = isOver ? Map.of(id, "") : rest.jobs();
        if (!states.containsKey(id)) {
          return Optional.of("is not known to the JobManager, which has started again");
        }
        String state = states.get(id);
        // A user has cancelled the job.
        isOver |= state.equals("CANCELED") || state.equals("FINISHED");
        if (!state.equals("FAILED")) {
          return Optional.empty();
        }
        rest.mistake(id)
            .ifPresent(
                sentence -> {
                  throw new UserErrorException(name + " has failed: " + sentence);
                });
        return Optional.of("has failed: " + rest.whyFailed(id));
      } catch (IOException e) {
        // The JobManager is starting or slow.
        return Optional.empty();
      }
    }

    @Override
    void start() throws Exception {
      try {
        id = starter.start();
        rejections = 0;
      } catch (UserErrorException e) {
        rejections++;
        if (rejections == JOB_ATTEMPTS) {
          throw new UserErrorException(
              "%s cannot be started after %d attempts: %s"
                  .formatted(name, rejections, e.getMessage()));
        }
        throw new IOException(e.getMessage(), e);
      }
    }
  }
}
