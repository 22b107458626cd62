package io.firstseen.faults;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Judges the answers that the consumer was given. */
final class ConsumerCheck {
  private static final ObjectMapper JSON = new ObjectMapper();

  final List<String> differences = new ArrayList<>();

  /** The newest sequence that has answered; -1 if none has. */
  long newest = -1;

  long snapshots;

  /** The number of queries for live keys. */
  long asked;

  /** How many times the client has refused a record. */
  long refused;

  private long others;
  private long present;

  /**
   * Reads all lines.
   *
   * @param events the number of the model's events; answers about later windows are not judged
   */
  static ConsumerCheck of(Path answers, int events) throws IOException {
    ConsumerCheck check = new ConsumerCheck();
    if (Files.exists(answers)) {
      for (String line : Files.readAllLines(answers, StandardCharsets.UTF_8)) {
        check.take(line, events);
      }
    }
    return check;
  }

  void take(String line, int events) {
    try {
      JsonNode json = JSON.readTree(line);
      refused += json.has("refused") ? 1 : 0;
      if (json.has("sequence")) {
        take(JSON.treeToValue(json, ConsumerMain.Answer.class), events);
      }
    } catch (JsonProcessingException e) {
      // The process was killed within this line.
    }
  }

  private void take(ConsumerMain.Answer answer, int events) {
    if (answer.sequence() < newest) {
      differences.add(
          "the consumer answers from snapshot %d after %d".formatted(answer.sequence(), newest));
    }
    newest = Math.max(newest, answer.sequence());
    if (answer.end() > events) {
      return;
    }
    snapshots++;
    asked += answer.live();
    others += answer.others();
    present += answer.present();
    if (answer.absent() > 0) {
      differences.add(
          "snapshot %d: %d of %d live keys were absent"
              .formatted(answer.sequence(), answer.absent(), answer.live()));
    }
  }

  /** Of the keys that were not live, the share that was present. */
  double falsePositiveRate() {
    return others == 0 ? 0 : (double) present / others;
  }
}
