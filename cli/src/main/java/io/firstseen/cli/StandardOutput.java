package io.firstseen.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Standard output that remembers why a write failed, which writers do not report. */
final class StandardOutput extends FileOutputStream {
  private volatile @Nullable IOException failure;

  StandardOutput() {
    super(FileDescriptor.out);
  }

  @Override
  public void write(byte[] bytes, int from, int length) throws IOException {
    try {
      super.write(bytes, from, length);
    } catch (IOException e) {
      failure = e;
      throw e;
    }
  }

  /** Why a write failed; null after success, or if the reader has closed the pipe. */
  @Nullable String trouble() {
    IOException e = failure;
    return e == null || isPipe() || "Broken pipe".equals(e.getMessage()) ? null : e.getMessage();
  }

  /** A pipe only fails without a reader. The error message may be translated. */
  private static boolean isPipe() {
    try {
      String target = Files.readSymbolicLink(Path.of("/proc/self/fd/1")).toString();
      return target.startsWith("pipe:") || target.startsWith("socket:");
    } catch (IOException e) {
      return false;
    }
  }
}
