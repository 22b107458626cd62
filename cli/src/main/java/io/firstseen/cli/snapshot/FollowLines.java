package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.Progress;
import io.firstseen.cli.shared.SnapshotSummary;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.consumer.SnapshotUpdate;
import io.firstseen.filters.snapshot.Manifest;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** Prints a line per snapshot and per problem of a followed set. */
final class FollowLines implements SnapshotListener {
  private final PrintWriter out;
  private final boolean json;
  private final Progress progress;
  private final Runnable onSnapshot;
  private final Runnable onNobodyListens;

  FollowLines(
      PrintWriter out,
      boolean json,
      Progress progress,
      Runnable onSnapshot,
      Runnable onNobodyListens) {
    this.out = out;
    this.json = json;
    this.progress = progress;
    this.onSnapshot = onSnapshot;
    this.onNobodyListens = onNobodyListens;
  }

  static String progress(long readBytes, long left) {
    return "reading: %s bytes, %s records left"
        .formatted(SnapshotSummary.number(readBytes), SnapshotSummary.number(left));
  }

  /** Adds what {@code follow} and {@code pull} report of a manifest. */
  static void describe(ObjectNode object, Manifest manifest) {
    object
        .put("sequence", manifest.sequence())
        .put("windowStartMillis", manifest.windowStartMillis())
        .put("windowEndMillis", manifest.windowEndMillis())
        .put("publishedMillis", manifest.publishedMillis());
    if (manifest.expiresMillis() != null) {
      object.put("expiresMillis", manifest.expiresMillis());
    }
    object.put("keys", manifest.count());
  }

  @Override
  public void onUpdate(SnapshotUpdate update) {
    Manifest manifest = update.manifest();
    ObjectNode object = object("snapshot");
    describe(object, manifest);
    String changes = "";
    if (update.addedKeys().isPresent() && update.removedKeys().isPresent()) {
      object.put("added", update.addedKeys().getAsLong());
      object.put("removed", update.removedKeys().getAsLong());
      changes =
          " (+%s −%s)"
              .formatted(
                  SnapshotSummary.number(update.addedKeys().getAsLong()),
                  SnapshotSummary.number(update.removedKeys().getAsLong()));
    }
    object.put("way", update.way().name().toLowerCase(Locale.ROOT));
    object.put("fetchedBytes", update.fetchedBytes());
    object.put("tookMillis", update.tookMillis());
    print(
        object,
        "sequence %d, window %s to %s, %s keys%s, %s, took %d ms"
            .formatted(
                manifest.sequence(),
                Instant.ofEpochMilli(manifest.windowStartMillis()),
                Instant.ofEpochMilli(manifest.windowEndMillis()),
                SnapshotSummary.number(manifest.count()),
                changes,
                way(update),
                update.tookMillis()));
    onSnapshot.run();
  }

  private static String way(SnapshotUpdate update) {
    String bytes = SnapshotSummary.number(update.fetchedBytes());
    return switch (update.way()) {
      case NOTHING -> "nothing to fetch";
      case PACKS -> "by packs of " + bytes + " bytes";
      case BASES -> "by bases of " + bytes + " bytes";
    };
  }

  @Override
  public void onRefused(String reason) {
    print("refused", reason);
  }

  @Override
  public void onNotice(String sentence) {
    print("notice", sentence);
  }

  @Override
  public void onUnreachable(String reason) {
    print("unreachable", reason);
  }

  @Override
  public void onReachable() {
    print(object("reachable"), "the source can be read again");
  }

  @Override
  public void onProgress(long readBytes, long left) {
    progress.show(() -> progress(readBytes, left));
  }

  private void print(String event, String sentence) {
    ObjectNode object = object(event);
    object.put("reason", sentence);
    print(object, event + ": " + sentence);
  }

  private static ObjectNode object(String event) {
    ObjectNode object = Json.object();
    object.put("time", System.currentTimeMillis());
    object.put("event", event);
    return object;
  }

  private void print(ObjectNode object, String line) {
    progress.close();
    out.println(
        json
            ? Json.line(object)
            : Instant.ofEpochMilli(object.get("time").asLong()).truncatedTo(ChronoUnit.SECONDS)
                + " "
                + line);
    if (out.checkError()) {
      onNobodyListens.run();
    }
  }
}
