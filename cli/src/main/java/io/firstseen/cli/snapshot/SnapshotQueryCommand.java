package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Json;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.SnapshotException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Prints, per key, whether a snapshot contains it. */
@Command(
    name = "query",
    footer = {
      "  firstseen snapshot query keys.snapshot example.org example.com",
      "  firstseen snapshot query snapshots --sequence 7 --scope tenant-1 - < keys.txt"
    },
    description = {
      "Prints, per key, whether a snapshot contains it: key TAB present|absent; or key TAB "
          + "invalid TAB reason, with exit code 4, for a key without a canonical form."
    })
final class SnapshotQueryCommand extends QueryVerb {

  @Parameters(
      index = "1..*",
      paramLabel = "KEY",
      description = "Keys to look up; - or no key reads them from standard input, one per line.")
  private List<String> keys = List.of();

  private OpenedSnapshots opened;
  private KeyHash keyHash;

  @Override
  public Integer call() throws IOException {
    keyHash = hashKey.keyHash();
    opened = snapshot.open(trusted.keys());
    opened.parameters().requireReadableBy(keyHash);
    return answerAll(keys);
  }

  @Override
  void answer(List<byte[]> queries) throws SnapshotException {
    for (byte[] key : queries) {
      String text = new String(key, StandardCharsets.UTF_8);
      ObjectNode object = Json.object().put("key", text);
      try {
        String answer = opened.mightContain(scope(), key, keyHash) ? "present" : "absent";
        print(object.put("answer", answer), text + "\t" + answer);
      } catch (InvalidKeyException e) {
        printInvalid(object, text, e.getMessage());
      }
    }
  }
}
