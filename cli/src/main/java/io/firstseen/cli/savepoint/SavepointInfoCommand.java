package io.firstseen.cli.savepoint;

import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ClosingVerb;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.embedded.EmbeddedCluster;
import io.firstseen.jobs.DedupJob;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.DedupSavepoint;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints what a savepoint or a checkpoint holds of a dedup. */
@Command(
    name = "info",
    footer = {
      "  firstseen savepoint info known",
      "  firstseen savepoint info --shards checkpoints/JOB/chk-42",
      "  firstseen savepoint info --uid-prefix clicks --json savepoint-4f7c2a"
    },
    description = "Shows the state of a dedup job in a savepoint or a checkpoint.",
    exitCodeList = {
      "0:success",
      "2:usage error, or the savepoint is unreadable or has no " + "state of a dedup job"
    })
final class SavepointInfoCommand extends ClosingVerb {

  @Parameters(
      index = "0",
      paramLabel = "DIR",
      description = "Directory of the savepoint or checkpoint.")
  private Path directory;

  @Option(
      names = "--uid-prefix",
      paramLabel = "PREFIX",
      defaultValue = DedupJob.UID_PREFIX,
      description = "Prefix of the uids of the operators (default: ${DEFAULT-VALUE}).")
  private String uidPrefix;

  @Option(names = "--shards", description = "Also show every shard.")
  private boolean shards;

  @Override
  protected int run(Cleanup cleanup) throws Exception {
    String root = SavepointDirectory.require(directory);
    Path scratch = cleanup.temporaryDirectory();
    EmbeddedCluster cluster =
        cleanup.open(() -> EmbeddedCluster.start(scratch, EmbeddedCluster.Settings.defaults()));
    DedupSavepoint savepoint;
    try {
      savepoint =
          DedupSavepoint.read(cluster.environment(), uidPrefix, root)
              .orElseThrow(
                  () ->
                      new UserErrorException(
                          "%s holds no state of a dedup with the uid %s-dedup"
                              .formatted(directory, uidPrefix)));
    } catch (UserErrorException | InterruptedException e) {
      throw e;
    } catch (Exception e) {
      throw SavepointDirectory.cannot("read", directory, e);
    }
    print(new SavepointSummary(savepoint).fields(shards));
    return ExitCode.GOOD;
  }
}
