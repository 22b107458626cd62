package io.firstseen.jobs.kafka;

import io.firstseen.operators.UserErrorException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.Uuid;

/**
 * The topics that a sink of a dedup job writes. State contains a line per topic: its option, its
 * name, its Kafka id, and the number of partitions that the job writes to.
 *
 * @param names the names of the topics, by option
 * @param acceptsNew whether the topics may differ from the topics in the state
 * @param acceptedPartitions the number of partitions of the accepted topic to write to; 0 for all
 */
record OutputTopics(Map<String, String> names, boolean acceptsNew, int acceptedPartitions)
    implements Serializable {
  private static final String ACCEPTED = "--accepted-topic";

  /** The current or previous state of a topic at the brokers. */
  private record Known(String option, String name, Uuid id, int partitions) {
    static Known parse(String line) {
      String[] words = line.split(" ", -1);
      return new Known(words[0], words[1], Uuid.fromString(words[2]), Integer.parseInt(words[3]));
    }
  }

  static String state(String option) {
    return "topic-of" + option;
  }

  List<String> now(Brokers brokers) {
    Map<String, TopicDescription> described = brokers.describe(names.values());
    List<String> lines = new ArrayList<>();
    names.forEach(
        (option, name) -> {
          TopicDescription topic = described.get(name);
          if (topic == null) {
            throw new UserErrorException(
                "topic %s (%s), which the job uses, no longer exists: start the job with --accept-new-topic to use a new topic, which has no earlier records"
                    .formatted(name, option));
          }
          int partitions = topic.partitions().size();
          if (option.equals(ACCEPTED) && acceptedPartitions > 0) {
            if (acceptedPartitions > partitions) {
              throw new UserErrorException(
                  "--accepted-partitions must be at most %d, the number of partitions of topic %s, got %d"
                      .formatted(partitions, name, acceptedPartitions));
            }
            partitions = acceptedPartitions;
          }
          lines.add("%s %s %s %d".formatted(option, name, topic.topicId(), partitions));
        });
    return lines;
  }

  /** Compares each topic with the recorded line of its option, if there is one. */
  static void requireSame(Iterable<String> before, List<String> now) {
    for (String line : now) {
      Known topic = Known.parse(line);
      for (String other : before) {
        requireSame(topic.option, Known.parse(other), topic);
      }
    }
  }

  private static void requireSame(String option, Known before, Known now) {
    if (!option.equals(before.option)) {
      return;
    }
    if (!now.name.equals(before.name)) {
      throw new UserErrorException(
          "%s is %s, but the job of the state wrote to topic %s: start the job with %1$s %3$s, or with --accept-new-topic to write to a different topic, which has no earlier records"
              .formatted(option, now.name, before.name));
    }
    if (!now.id.equals(before.id)
        && !now.id.equals(Uuid.ZERO_UUID)
        && !before.id.equals(Uuid.ZERO_UUID)) {
      throw new UserErrorException(
          "topic %s (%s) was deleted and recreated: its id is %s, and the last job used the topic with the id %s (start the job with --accept-new-topic to use the new topic, which has no earlier records)"
              .formatted(now.name, option, now.id, before.id));
    }
    if (option.equals(ACCEPTED) && now.partitions != before.partitions) {
      throw new UserErrorException(
          "the job has written to %d partitions of topic %s, and would now write to %d, so the tombstone of a key could be in a different partition, and compaction would keep the key: start the job with --accepted-partitions %1$d"
              .formatted(before.partitions, now.name, now.partitions));
    }
  }
}
