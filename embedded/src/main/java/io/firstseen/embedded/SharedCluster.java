package io.firstseen.embedded;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.StoreScope;

/**
 * One Flink cluster for all tests of a JVM, started by the first that asks for it and stopped at
 * the end. The jobs that a test leaves running are cancelled after it, so tests that use the
 * cluster must not run at the same time.
 */
public final class SharedCluster implements BeforeAllCallback, AfterEachCallback {
  private static final Namespace NAMESPACE = Namespace.create(SharedCluster.class);

  private final int slots;
  private EmbeddedCluster cluster;

  private SharedCluster(int slots) {
    this.slots = slots;
  }

  /** The cluster whose one TaskManager has this many slots; there is one for each number. */
  public static SharedCluster ofSlots(int slots) {
    return new SharedCluster(slots);
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    cluster =
        context
            .getStore(StoreScope.LAUNCHER_SESSION, NAMESPACE)
            .getOrComputeIfAbsent(slots, Running::start, Running.class)
            .cluster;
  }

  @Override
  public void afterEach(ExtensionContext context) {
    cluster.cancelJobs();
  }

  /** The cluster itself, which stays open. */
  public EmbeddedCluster cluster() {
    return cluster;
  }

  /** An environment whose jobs run on the cluster. */
  public StreamExecutionEnvironment environment() {
    return cluster.environment();
  }

  /** An environment whose jobs run on the cluster, with settings of their own. */
  public StreamExecutionEnvironment environment(Configuration jobSettings) {
    return cluster.environment(jobSettings);
  }

  private record Running(Path directory, EmbeddedCluster cluster) implements AutoCloseable {

    static Running start(int slots) {
      try {
        Path directory = Files.createTempDirectory("firstseen-cluster");
        return new Running(
            directory,
            EmbeddedCluster.start(
                directory, EmbeddedCluster.Settings.defaults().slotsPerTaskManager(slots)));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    @Override
    public void close() throws IOException {
      cluster.close();
      FileUtils.deleteDirectory(directory.toFile());
    }
  }
}
