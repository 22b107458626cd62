package io.firstseen.cli.savepoint;

import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.FlinkPath;
import io.firstseen.cli.shared.Verb;
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
    description = "Shows the state of a dedup in a savepoint or a checkpoint.",
    exitCodeList = {"0:good", "2:usage error, or there is no dedup in it, or it cannot be read"})
final class SavepointInfoCommand extends Verb {

  @Parameters(
      index = "0",
      paramLabel = "DIR",
      description = "The directory of the savepoint or checkpoint: the one with _metadata in it.")
  private Path directory;

  @Option(
      names = "--uid-prefix",
      paramLabel = "PREFIX",
      defaultValue = DedupJob.UID_PREFIX,
      description =
          "The beginning of the uid of the dedup's operator, if it is not that of Firstseen's jobs"
              + " (default: ${DEFAULT-VALUE}).")
  private String uidPrefix;

  @Option(names = "--shards", description = "Show every shard, too.")
  private boolean shards;

  @Option(names = "--json", description = "Print one JSON object.")
  private boolean json;

  @Override
  public Integer call() throws Exception {
    return Cleanup.after(this::run);
  }

  private int run(Cleanup cleanup) throws Exception {
    Path root = SavepointDirectory.require(directory);
    Path scratch = cleanup.temporaryDirectory();
    EmbeddedCluster cluster =
        cleanup.open(() -> EmbeddedCluster.start(scratch, EmbeddedCluster.Settings.defaults()));
    DedupSavepoint savepoint;
    try {
      savepoint =
          DedupSavepoint.read(cluster.environment(), uidPrefix, FlinkPath.of(root))
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
    new SavepointSummary(savepoint).fields(shards).print(out(), json);
    return ExitCode.GOOD;
  }
}
