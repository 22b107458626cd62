package io.firstseen.operators.restores;

import io.firstseen.operators.restores.DedupTrial.Settings;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * ForSt, in its synchronous mode: it has native savepoints alone, so they are not the other
 * backends'.
 */
class ForStTest {
  @RegisterExtension private static final TestCluster CLUSTER = new TestCluster();

  @Test
  void afterAFailureEverythingIsAsIfThereHadBeenNone() throws Exception {
    CheckpointsTest.assertAFailureLeavesNoTrace(CLUSTER, "forst", settings -> settings);
  }

  @Test
  void afterAFailureAnExactModeIsAsIfThereHadBeenNone() throws Exception {
    CheckpointsTest.assertAFailureLeavesNoTrace(CLUSTER, "forst", Settings::exact);
  }

  @Test
  void noKeyIsForgottenFromOneTaskToFourToTwo() throws Exception {
    SpreadTest.assertScales(CLUSTER, "forst", settings -> settings);
  }
}
