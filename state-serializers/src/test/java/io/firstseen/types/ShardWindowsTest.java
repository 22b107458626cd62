package io.firstseen.types;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ShardWindowsTest {

  @Test
  void openWindowsStayInOrderAndDistinct() {
    ShardWindows windows = ShardWindows.NONE.opened(30).opened(10).opened(20).opened(10);
    assertThat(windows.openEndsMillis()).containsExactly(10, 20, 30);
    assertThat(windows.isOpen(20)).isTrue();
    assertThat(windows.isOpen(25)).isFalse();
  }

  @Test
  void theOldestWindowIsClosedFirst() {
    ShardWindows windows = ShardWindows.NONE.opened(20).opened(10).closed(10);
    assertThat(windows).isEqualTo(new ShardWindows(10, 0, new long[] {20}));
    assertThat(windows.closed(20)).isEqualTo(new ShardWindows(20, 0, new long[0]));
  }

  @Test
  void aWindowWithoutOperationsCanBeClosed() {
    ShardWindows windows = ShardWindows.NONE.opened(20).closed(15);
    assertThat(windows).isEqualTo(new ShardWindows(15, 0, new long[] {20}));
  }

  @Test
  void theLiveCountMayChange() {
    ShardWindows windows = ShardWindows.NONE.opened(10).withLiveCount(5);
    assertThat(windows).isEqualTo(new ShardWindows(Long.MIN_VALUE, 5, new long[] {10}));
  }
}
