package com.example.clicks;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.embedded.SharedCluster;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The dedup of the job on a Flink cluster in the JVM, without Kafka. */
class DedupTest {
  @RegisterExtension static final SharedCluster FLINK = SharedCluster.ofSlots(2);

  @Test
  void aPageIsNewOnceHoweverItIsSpelt() throws Exception {
    var clicks = FLINK.environment().fromData(click("https://example.org/a"),
        click("HTTPS://EXAMPLE.org:443/a"), click("https://example.org/b"));
    var pages = FirstClicksJob.dedup(clicks).accepted().map(change -> change.event().url());
    try (CloseableIterator<String> first = pages.executeAndCollect()) {
      assertThat(first).toIterable()
          .containsExactlyInAnyOrder("https://example.org/a", "https://example.org/b");
    }
  }

  private static Click click(String url) {
    return new Click(url, "{}");
  }
}
