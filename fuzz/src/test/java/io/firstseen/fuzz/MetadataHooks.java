package io.firstseen.fuzz;

import com.code_intelligence.jazzer.api.HookType;
import com.code_intelligence.jazzer.api.MethodHook;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import org.apache.flink.runtime.checkpoint.Checkpoints;

/**
 * Hooks for Flink's reader of metadata, which allocates memory for any length that it reads. Each
 * such allocation fails after two full garbage collections. With the hooks it fails immediately.
 */
public final class MetadataHooks {
  /** Counts, lengths and numbers of subtasks and key groups are far below. */
  private static final int MAX_LENGTH = 1 << 16;

  private MetadataHooks() {}

  /** Instead of {@link java.io.DataInputStream#readInt} in the instrumented classes. */
  @MethodHook(
      type = HookType.REPLACE,
      targetClassName = "java.io.DataInputStream",
      targetMethod = "readInt")
  public static int readInt(MethodHandle method, Object stream, Object[] arguments, int hookId)
      throws Throwable {
    int value = (int) method.invoke(stream);
    if (value > MAX_LENGTH && value != Checkpoints.HEADER_MAGIC_NUMBER) {
      throw new IOException("a length of " + value);
    }
    return value;
  }
}
