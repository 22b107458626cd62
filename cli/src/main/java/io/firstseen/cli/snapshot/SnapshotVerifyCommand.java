package io.firstseen.cli.snapshot;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.JsonVerb;
import io.firstseen.cli.shared.TrustedKeyOptions;
import io.firstseen.filters.snapshot.MalformedSnapshotException;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.filters.snapshot.UntrustedManifestException;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Decodes everything and checks every digest. */
@Command(
    name = "verify",
    footer = {
      "  firstseen snapshot verify keys.snapshot",
      "  firstseen snapshot verify snapshots --public-key signing.pem.pub"
    },
    description = {
      "Decodes everything, and checks every digest. For a directory, checks that the blobs "
          + "lead to the root of the manifest; for a single pack or base, only checks that it is "
          + "readable."
    },
    exitCodeList = {
      "0:valid",
      "1:invalid, or not signed by a trusted key",
      "2:usage error, or the file is unreadable"
    })
final class SnapshotVerifyCommand extends JsonVerb {

  @Mixin private SnapshotArgument snapshot;

  @Mixin private TrustedKeyOptions trusted;

  @Override
  public Integer call() throws IOException {
    List<TrustedKey> keys = trusted.keys();
    ObjectNode valid = Json.object().put("valid", true);
    try {
      snapshot.requireSigned(keys);
      Optional<FileSummary> file = OpenedSnapshots.file(snapshot.path, snapshot.sequence);
      if (file.isPresent()) {
        file.get().verify();
        print(valid.setAll(file.get().fields().json()), "valid: " + file.get().sentence());
      } else {
        OpenedSnapshots opened = OpenedSnapshots.open(snapshot.path, snapshot.sequence);
        opened.verify();
        print(
            valid.setAll(opened.summary().fields().json()),
            "valid: " + opened.summary().sentence());
      }
      return ExitCode.GOOD;
    } catch (MalformedSnapshotException | UntrustedManifestException e) {
      print(
          Json.object().put("valid", false).put("reason", e.getMessage()),
          "invalid: " + e.getMessage());
      return ExitCode.NEGATIVE;
    }
  }
}
