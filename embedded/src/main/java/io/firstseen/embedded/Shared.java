package io.firstseen.embedded;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.util.FileUtils;
import org.apache.flink.util.function.FunctionWithException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.StoreScope;

/** A broker or cluster for all tests of a JVM, in a temporary directory. */
record Shared<T extends Closeable>(Path directory, T server) implements AutoCloseable {

  /** Returns the server of a type and a key; the first call starts it. */
  static <T extends Closeable> T get(
      ExtensionContext context,
      Class<T> type,
      Object key,
      FunctionWithException<Path, T, IOException> starter) {
    Shared<?> shared =
        context
            .getStore(StoreScope.LAUNCHER_SESSION, Namespace.create(type))
            .getOrComputeIfAbsent(key, unused -> start(starter), Shared.class);
    return type.cast(shared.server);
  }

  private static Shared<?> start(
      FunctionWithException<Path, ? extends Closeable, IOException> starter) {
    try {
      Path directory = Files.createTempDirectory("firstseen-shared");
      return new Shared<>(directory, starter.apply(directory));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
    FileUtils.deleteDirectory(directory.toFile());
  }
}
