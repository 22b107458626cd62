package io.firstseen.cli.serve;

import static io.firstseen.cli.shared.SnapshotSummary.number;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Json;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.server.ServiceLog;
import java.io.Closeable;
import java.io.PrintWriter;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.apache.flink.util.concurrent.ExecutorThreadFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;
import picocli.CommandLine;

/**
 * Prints or logs a line per event of the service, in a thread that a slow reader may block. If the
 * queue is full, lines of requests are omitted and counted.
 */
final class ServeLines implements ServiceLog, Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(ServeLines.class);
  private static final int MAX_WAITING = 10_000;
  private static final Duration TIMEOUT = Duration.ofSeconds(1);

  private final PrintWriter out;
  private final PrintWriter err;
  private final boolean json;
  private final boolean logs;
  private final boolean requests;
  private final AtomicLong omittedLines = new AtomicLong();
  private final ThreadPoolExecutor writer =
      new ThreadPoolExecutor(
          1,
          1,
          0,
          TimeUnit.SECONDS,
          new LinkedBlockingQueue<>(),
          new ExecutorThreadFactory("lines", (thread, e) -> LOG.error("cannot write a line", e)),
          new ThreadPoolExecutor.DiscardPolicy());

  ServeLines(CommandLine verb, boolean json, boolean logs, boolean requests) {
    out = verb.getOut();
    err = verb.getErr();
    this.json = json;
    this.logs = logs;
    this.requests = requests;
  }

  void serving(List<String> sets, List<String> allow, String from, String url) {
    ObjectNode object = Json.object().put("event", "serving").put("url", url).put("from", from);
    sets.forEach(object.putArray("sets")::add);
    allow.forEach(object.putArray("allow")::add);
    List<String> names =
        sets.stream().map(set -> allow.contains(set) ? set + " (allow)" : set).toList();
    print(
        out,
        object,
        "serving set%s %s on %s from %s"
            .formatted(sets.size() == 1 ? "" : "s", String.join(", ", names), url, from));
  }

  @Override
  public void onSnapshot(String set, Manifest manifest) {
    print(
        out,
        Json.object()
            .put("event", "snapshot")
            .put("set", set)
            .put("sequence", manifest.sequence())
            .put("keys", manifest.count())
            .put("windowEndMillis", manifest.windowEndMillis()),
        "set %s: sequence %d is active, %s keys at %s"
            .formatted(
                set,
                manifest.sequence(),
                number(manifest.count()),
                Instant.ofEpochMilli(manifest.windowEndMillis())));
  }

  @Override
  public void onTrouble(String set, String reason) {
    ObjectNode object = Json.object().put("event", "trouble").put("set", set);
    print(err, object.put("reason", reason), "set %s: %s".formatted(set, reason));
  }

  @Override
  public void onReachable(String set) {
    ObjectNode object = Json.object().put("event", "reachable").put("set", set);
    print(err, object, "set %s: can be read again".formatted(set));
  }

  @Override
  public void onRequest(Answered request) {
    if (!requests) {
      return;
    }
    if (writer.getQueue().size() >= MAX_WAITING) {
      omittedLines.incrementAndGet();
      return;
    }
    String address =
        request.remote() instanceof InetSocketAddress inet
            ? inet.getAddress().getHostAddress()
            : "-";
    ObjectNode object =
        Json.object()
            .put("event", "request")
            .put("address", address)
            .put("method", request.method())
            .put("path", request.path())
            .put("status", request.status())
            .put("bytes", request.bytes())
            .put("millis", TimeUnit.NANOSECONDS.toMicros(request.nanos()) / 1e3);
    String line =
        object.properties().stream()
            .skip(1)
            .map(
                field ->
                    field.getValue().isDouble()
                        ? String.format(Locale.ROOT, "%.3f", field.getValue().doubleValue())
                        : field.getValue().asText("-"))
            .collect(Collectors.joining(" "));
    print(out, object, line);
  }

  private void print(PrintWriter to, ObjectNode object, String line) {
    writer.execute(
        () -> {
          reportOmittedLines();
          write(to, object, line);
        });
  }

  private void reportOmittedLines() {
    long lines = omittedLines.getAndSet(0);
    if (lines > 0) {
      write(
          err,
          Json.object().put("event", "left-out").put("lines", lines),
          "%d lines were omitted, because they were not read in time".formatted(lines));
    }
  }

  @Override
  public void close() {
    writer.shutdown();
    try {
      if (!writer.awaitTermination(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
        omittedLines.addAndGet(writer.shutdownNow().size());
        reportOmittedLines();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void write(PrintWriter to, ObjectNode object, String line) {
    String clean = line.replaceAll("\\p{Cntrl}", "?");
    if (!logs) {
      to.println(json ? Json.line(object) : clean);
      to.flush();
      return;
    }
    object
        .properties()
        .forEach(
            field -> {
              JsonNode value = field.getValue();
              MDC.put(field.getKey(), value.isValueNode() ? value.asText() : value.toString());
            });
    try {
      if (to == err) {
        LOG.warn(clean);
      } else {
        LOG.info(clean);
      }
    } finally {
      MDC.clear();
    }
  }
}
