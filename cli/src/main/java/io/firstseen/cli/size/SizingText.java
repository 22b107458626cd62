package io.firstseen.cli.size;

import io.firstseen.cli.shared.Rows;
import java.util.Locale;

/** A sizing for people. */
record SizingText(SizingRequest request, Sizing sizing) {

  /** The sections, each line ending with a line feed. */
  String text() {
    StringBuilder text = new StringBuilder();
    section(text, "Filter", filter());
    section(text, "Tasks", tasks());
    section(text, "Memory", memory());
    section(text, "Checkpoints", checkpoints());
    section(text, "Recovery", recovery());
    section(text, "Topics, of one replica, uncompressed", topics());
    if (sizing.snapshots() != null) {
      section(text, "Snapshots", snapshots(sizing.snapshots()));
    }
    section(text, "Network, of all tasks", network());
    if (!sizing.warnings().isEmpty()) {
      text.append(String.format("%nWarnings%n"));
      sizing.warnings().forEach(warning -> text.append(String.format("- %s%n", warning)));
    }
    text.append(String.format("%nFlink's configuration%n"));
    sizing
        .flinkConfiguration()
        .forEach((key, value) -> text.append("%s: %s%n".formatted(key, value)));
    text.append(String.format("%nSubmit%n"));
    sizing.commands().forEach(line -> text.append(String.format("%s%n", line)));
    return text.toString();
  }

  private static void section(StringBuilder text, String title, Rows rows) {
    text.append(text.isEmpty() ? "" : String.format("%n"))
        .append(title)
        .append(String.format("%n"));
    text.append(rows);
  }

  private Rows filter() {
    Sizing.Filter filter = sizing.filter();
    return new Rows()
        .put("keys", request.keys())
        .put("identity bits", filter.identityBits())
        .put("rate at all keys", String.format(Locale.ROOT, "%.3g", filter.predictedRate()))
        .put("bits a key", String.format(Locale.ROOT, "%.1f", filter.bitsPerKey()))
        .put("in memory", Amounts.bytes(filter.heapBytes()))
        .put("in a checkpoint", Amounts.bytes(filter.stateBytes()))
        .put("pages", Amounts.count(filter.pages()));
  }

  private Rows tasks() {
    Sizing.Tasks tasks = sizing.tasks();
    return new Rows()
        .put("shards", tasks.shards() + " (least: " + tasks.leastShards() + ")")
        .put("parallelism", tasks.parallelism())
        .put("shards of a task", "at most " + tasks.mostShardsOfTask())
        .put("keys of a shard", Amounts.count(tasks.keysPerShard()))
        .put("a task decides", Amounts.rate(tasks.eventsPerSecondOfTask()))
        .put("busy", percent(tasks.busyShare()))
        .put("cores", String.format(Locale.ROOT, "%,.1f", tasks.cores()));
  }

  private Rows memory() {
    Sizing.Memory memory = sizing.memory();
    Rows rows = new Rows().put("heap of a task", Amounts.bytes(memory.heapBytesOfTask()));
    if (request.isOnRocksDb()) {
      rows.put("page cache", Amounts.bytes(memory.pageCacheBytesOfTask()) + " of it")
          .put("managed memory", Amounts.bytes(memory.managedBytesOfTask()) + " a task");
    }
    return rows.put("local disk", Amounts.bytes(memory.diskBytesOfTask()) + " a task")
        .put("TaskManagers", memory.taskManagers())
        .put("heap of each", Amounts.bytes(memory.heapBytesOfTaskManager()))
        .put("memory in all", Amounts.bytes(memory.totalBytes()));
  }

  private Rows checkpoints() {
    Sizing.Checkpoints checkpoints = sizing.checkpoints();
    Rows rows =
        new Rows()
            .put(
                request.isOnRocksDb() ? "the first" : "each",
                Amounts.bytes(checkpoints.fullBytes())
                    + " in "
                    + Amounts.seconds(checkpoints.fullSeconds()));
    if (request.isOnRocksDb()) {
      rows.put(
              "those that follow",
              Amounts.bytes(checkpoints.usualBytes())
                  + " in "
                  + Amounts.seconds(checkpoints.usualSeconds()))
          .put("pages that change", percent(checkpoints.changedPageShare()) + " in an interval");
    }
    return rows.put("to the storage", Amounts.bytes(checkpoints.usualBytesPerSecond()) + "/s");
  }

  private Rows recovery() {
    Sizing.Recovery recovery = sizing.recovery();
    return new Rows()
        .put("until tasks run", Amounts.seconds(recovery.restartSeconds()))
        .put(
            "to catch up",
            recovery.catchUpSeconds() == null
                ? "never"
                : Amounts.seconds(recovery.catchUpSeconds()) + " at worst")
        .put("to rescale", Amounts.seconds(recovery.rescaleSeconds()));
  }

  private Rows topics() {
    Sizing.Topics topics = sizing.topics();
    return new Rows()
        .put(
            "accepted",
            "%s, %.0f bytes a record%s"
                .formatted(
                    Amounts.bytes(topics.acceptedBytes()),
                    topics.acceptedRecordBytes(),
                    request.ttlSeconds() > 0 ? ", if its policy is compact,delete" : ""))
        .put(
            "duplicates",
            "%s in %s, %.0f bytes a record"
                .formatted(
                    Amounts.bytes(topics.duplicatesBytes()),
                    Amounts.seconds(request.retentionSeconds()),
                    topics.duplicatesRecordBytes()))
        .put("event partitions", "at least " + topics.partitions());
  }

  private Rows snapshots(Sizing.Snapshots snapshots) {
    return new Rows()
        .put("snapshot shards", snapshots.shards())
        .put("keys of a shard", Amounts.count(snapshots.keysPerShard()))
        .put("a new reader gets", Amounts.bytes(snapshots.sentBytes()))
        .put("a reader maps", Amounts.bytes(snapshots.mappedBytes()))
        .put("a window adds", Amounts.bytes(snapshots.windowBytes()))
        .put("topic", Amounts.bytes(snapshots.topicBytes()))
        .put("state of its job", Amounts.bytes(snapshots.stateBytes()))
        .put("tasks of its job", snapshots.parallelism())
        .put("heap of such a task", Amounts.bytes(snapshots.heapBytesOfTask()))
        .put("to close a window", Amounts.seconds(snapshots.closeSeconds()));
  }

  private Rows network() {
    Sizing.Network network = sizing.network();
    Rows rows =
        new Rows()
            .put("events", Amounts.bytes(network.eventBytes()) + "/s")
            .put("between machines", Amounts.bytes(network.exchangeBytes()) + "/s")
            .put("output", Amounts.bytes(network.outputBytes()) + "/s");
    if (request.isOnRocksDb()) {
      rows.put("page reads", Amounts.rate(network.pageReads()));
    }
    return rows;
  }

  private static String percent(double share) {
    return String.format(Locale.ROOT, "%.0f %%", 100 * share);
  }
}
