package io.firstseen.embedded;

import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * One Flink cluster for all tests of a JVM, which is started on first use and stopped at the end.
 * Jobs that a test leaves running are cancelled after the test, so tests that use the cluster must
 * not run concurrently.
 */
public final class SharedCluster implements BeforeAllCallback, AfterEachCallback {
  private final int slots;
  private EmbeddedCluster cluster;

  private SharedCluster(int slots) {
    this.slots = slots;
  }

  /**
   * Returns the cluster whose single TaskManager has this number of slots; there is one cluster per
   * number.
   */
  public static SharedCluster ofSlots(int slots) {
    return new SharedCluster(slots);
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    EmbeddedCluster.Settings settings =
        EmbeddedCluster.Settings.defaults().slotsPerTaskManager(slots);
    cluster =
        Shared.get(
            context,
            EmbeddedCluster.class,
            slots,
            directory -> EmbeddedCluster.start(directory, settings));
  }

  @Override
  public void afterEach(ExtensionContext context) {
    cluster.cancelJobs();
  }

  /** Returns the cluster, which the caller must not close. */
  public EmbeddedCluster cluster() {
    return cluster;
  }

  /** Returns an environment whose jobs run on the cluster. */
  public StreamExecutionEnvironment environment() {
    return cluster.environment();
  }

  /** Returns an environment whose jobs run on the cluster with additional settings. */
  public StreamExecutionEnvironment environment(Configuration jobSettings) {
    return cluster.environment(jobSettings);
  }
}
