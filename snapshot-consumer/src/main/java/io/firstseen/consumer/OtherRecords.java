package io.firstseen.consumer;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.SnapshotTopicFormat;
import io.firstseen.filters.snapshot.UnsupportedSnapshotException;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Records of a topic that do not belong to the followed set. They indicate that the name of the set
 * or of the topic may be misspelt.
 */
final class OtherRecords {
  private static final int MAX_NAMED_SETS = 20;
  private static final String PUBLISHER = "/publisher";

  private final String topic;
  private final String setName;
  private final Set<String> sets = new TreeSet<>();
  private @Nullable String strangeKey;

  OtherRecords(String topic, String setName) {
    this.topic = topic;
    this.setName = setName;
  }

  /** Adds a record whose key is not the name of the set. */
  void accept(String key, byte @Nullable [] value) {
    if (value == null
        || key.endsWith(PUBLISHER)
        || SnapshotTopicFormat.parseChunkKey(key).isPresent()) {
      return;
    }
    if (!isManifest(value)) {
      strangeKey = key;
    } else if (sets.size() < MAX_NAMED_SETS) {
      sets.add(key);
    }
  }

  private static boolean isManifest(byte[] value) {
    try {
      var unused = Manifest.read(value);
      return true;
    } catch (UnsupportedSnapshotException e) {
      return true;
    } catch (SnapshotException e) {
      return false;
    }
  }

  /** Returns a message about the records found instead of the set; empty if there are none. */
  Optional<String> insteadOfSet() {
    String none = "topic '%s' holds no snapshot of set '%s' yet, ".formatted(topic, setName);
    if (!sets.isEmpty()) {
      return Optional.of(none + "but snapshots of " + String.join(", ", sets));
    }
    return Optional.ofNullable(strangeKey)
        .map(
            key ->
                none
                    + "but other records, such as one %s: is it the topic of snapshots?"
                        .formatted(
                            key.isEmpty() ? "without a key" : "with the key '" + start(key) + "'"));
  }

  private static String start(String key) {
    return key.length() <= 100 ? key : key.substring(0, 100) + "…";
  }
}
