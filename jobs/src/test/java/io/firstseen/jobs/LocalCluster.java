package io.firstseen.jobs;

import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.SecurityOptions;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.util.TestStreamEnvironment;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A mini cluster for the jobs of all tests of a JVM, each of which runs to its end. */
public final class LocalCluster implements BeforeAllCallback {
  private static final int SLOTS = 4;

  private MiniCluster cluster;

  @Override
  public void beforeAll(ExtensionContext context) {
    cluster =
        context
            .getRoot()
            .getStore(ExtensionContext.Namespace.create(LocalCluster.class))
            .getOrComputeIfAbsent(Running.class, key -> Running.start(), Running.class)
            .cluster;
  }

  /** An environment whose jobs run on the cluster with these settings. */
  public StreamExecutionEnvironment environment(Configuration settings) {
    return new TestStreamEnvironment(cluster, settings, 1, List.of(), List.of());
  }

  private record Running(MiniCluster cluster) implements AutoCloseable {
    static Running start() {
      Configuration settings = new Configuration();
      settings.set(RestOptions.ADDRESS, "localhost");
      settings.set(RestOptions.BIND_PORT, "0");
      settings.set(SecurityOptions.DELEGATION_TOKENS_ENABLED, false);
      MiniCluster cluster =
          new MiniCluster(
              new MiniClusterConfiguration.Builder()
                  .setConfiguration(settings)
                  .setNumTaskManagers(1)
                  .setNumSlotsPerTaskManager(SLOTS)
                  .build());
      try {
        cluster.start();
      } catch (Exception e) {
        throw new IllegalStateException("the mini cluster did not start", e);
      }
      return new Running(cluster);
    }

    @Override
    public void close() {
      cluster.closeAsync().join();
    }
  }
}
