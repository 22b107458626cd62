package io.firstseen.processes;

import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.flink.util.TimeUtils;
import org.apache.flink.util.function.RunnableWithException;

/** Restarts processes and jobs that have ended, in the order in which they were added. */
public final class Supervisor {
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
  public Supervisor(Consumer<String> messages) {
    this.messages = messages;
  }

  /** Adds a process. */
  public void add(LocalProcess process) {
    add(process, UNKNOWN_STATUS);
  }

  /** Adds a process that exits with a known status if its options are invalid. */
  public void add(LocalProcess process, int statusOfMistakes) {
    parts.add(
        new Part(
            process.name(),
            () -> failure(process, statusOfMistakes),
            process::startWithoutWaiting));
  }

  /**
   * Adds a job.
   *
   * @param starter submits the job, and returns its id; the job may not be running yet
   */
  public void addJob(String name, FlinkRest rest, String id, Callable<String> starter) {
    Job job = new Job(name, rest, starter, id);
    parts.add(new Part(name, job::failure, job::start));
  }

  /** Watches all parts until the thread is interrupted. */
  public void run() throws Exception {
    while (true) {
      for (Part part : parts) {
        check(part);
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
    }
  }

  private void check(Part part) throws Exception {
    if (!part.ended) {
      part.failure.get().ifPresent(failure -> startLater(part, failure));
    } else if (System.nanoTime() - part.endedNanos > part.delay.toNanos()) {
      part.startedNanos = System.nanoTime();
      try {
        part.start.run();
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
        "%s %s; next start in %s"
            .formatted(part.name, failure, TimeUtils.formatWithHighestUnit(part.delay)));
  }

  private static Optional<String> failure(LocalProcess process, int statusOfMistakes) {
    if (process.isAlive()) {
      return Optional.empty();
    }
    int status = process.exitStatus();
    String failure =
        "has ended with status %d (the last line of %s: %s)"
            .formatted(status, process.log(), process.lastLine());
    if (status == statusOfMistakes) {
      throw new UserErrorException(process.name() + " " + failure);
    }
    return Optional.of(failure);
  }

  private static final class Part {
    private final String name;

    /** The reason why the part no longer runs; empty if it runs, or if the reason is unknown. */
    private final Supplier<Optional<String>> failure;

    private final RunnableWithException start;
    private boolean ended;
    private long endedNanos;
    private long startedNanos = System.nanoTime();
    private Duration delay = MIN_DELAY.dividedBy(2);

    Part(String name, Supplier<Optional<String>> failure, RunnableWithException start) {
      this.name = name;
      this.failure = failure;
      this.start = start;
    }
  }

  private static final class Job {
    private final String name;
    private final FlinkRest rest;
    private final Callable<String> starter;
    private String id;
    private boolean isOver;
    private int rejections;

    Job(String name, FlinkRest rest, Callable<String> starter, String id) {
      this.name = name;
      this.rest = rest;
      this.starter = starter;
      this.id = id;
    }

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

    void start() throws Exception {
      try {
        id = starter.call();
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
