package io.firstseen.types;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
    ShardWindows windows = ShardWindows.NONE.opened(20).opened(10).closedOldest(7);
    assertThat(windows).isEqualTo(new ShardWindows(10, 7, new long[] {20}));
    assertThat(windows.closedOldest(6)).isEqualTo(new ShardWindows(20, 6, new long[0]));
    assertThatThrownBy(() -> windows.closedOldest(6).closedOldest(5))
        .isInstanceOf(IllegalStateException.class);
  }
}
