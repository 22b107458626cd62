package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.TrustedKeyOptions;
import io.firstseen.cli.shared.Verb;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.jobs.options.HashKeyOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints, per key, whether a snapshot contains it. */
@Command(
    name = "query",
    footer = {
      "  firstseen snapshot query keys.snapshot example.org example.com",
      "  firstseen snapshot query snapshots --sequence 7 --scope tenant-1 - < keys.txt"
    },
    description = {
      "Prints, per key, whether a snapshot contains it: key TAB present|absent.",
      "For a key without a canonical form, prints: key TAB invalid TAB reason. The exit "
          + "code is then 4."
    })
final class SnapshotQueryCommand extends Verb {

  @Mixin private SnapshotArgument snapshot;

  @Parameters(
      index = "1..*",
      paramLabel = "KEY",
      description = "Keys to look up; - or no key reads them from standard input, one per line.")
  private List<String> keys = List.of();

  @Option(
      names = "--scope",
      paramLabel = "SCOPE",
      description =
          "Scope of the keys. Snapshots do not record whether keys have scopes: without this "
              + "option, a key that was added with a scope is absent.")
  private String scope;

  @Option(names = "--json", description = "Print one JSON object per key.")
  private boolean json;

  @Mixin private HashKeyOptions hashKey;

  @Mixin private TrustedKeyOptions trusted;

  private OpenedSnapshots opened;
  private KeyHash keyHash;
  private byte @Nullable [] scopeBytes;

  @Override
  public Integer call() throws IOException {
    keyHash = hashKey.keyHash();
    opened = snapshot.open(trusted.keys());
    opened.parameters().requireReadableBy(keyHash);
    scopeBytes = scope == null ? null : scope.getBytes(StandardCharsets.UTF_8);
    return Questions.answer(keys, commandLine(), this::answer);
  }

  private int answer(List<byte[]> questions) throws SnapshotException {
    int invalid = 0;
    for (byte[] key : questions) {
      String text = new String(key, StandardCharsets.UTF_8);
      ObjectNode object = Json.object().put("key", text);
      try {
        String answer = opened.mightContain(scopeBytes, key, keyHash) ? "present" : "absent";
        print(json, object.put("answer", answer), text + "\t" + answer);
      } catch (InvalidKeyException e) {
        object.put("answer", "invalid").put("reason", e.getMessage());
        print(json, object, text + "\tinvalid\t" + Questions.field(e.getMessage()));
        invalid++;
      }
    }
    return invalid;
  }
}
