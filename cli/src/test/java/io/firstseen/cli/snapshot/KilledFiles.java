package io.firstseen.cli.snapshot;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.StandardOpenOption;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The files of the default file system, as a process sees them that is killed before one of its
 * changes: that change and all later ones fail.
 */
final class KilledFiles extends FileSystem {
  /** Ends the work of the killed process. */
  static final class Killed extends Error {
    private static final long serialVersionUID = 1;
  }

  private final FileSystem files = Path.of("").getFileSystem();
  private final FileSystemProvider provider = new Provider(files.provider());
  private int left;

  /** Lets so many changes happen. */
  KilledFiles(int changes) {
    left = changes;
  }

  boolean wasKilled() {
    return left < 0;
  }

  private void change() {
    left--;
    if (left < 0) {
      throw new Killed();
    }
  }

  Path wrap(Path path) {
    return path == null
        ? null
        : (Path)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Path.class},
                (proxy, method, arguments) -> {
                  if (method.getName().equals("getFileSystem")) {
                    return this;
                  }
                  Object[] real =
                      arguments == null
                          ? null
                          : Arrays.stream(arguments).map(KilledFiles::real).toArray();
                  try {
                    Object result = method.invoke(path, real);
                    return result instanceof Path found ? wrap(found) : result;
                  } catch (InvocationTargetException e) {
                    throw e.getCause();
                  }
                });
  }

  private static Object real(Object argument) {
    // A proxy has the text of its path.
    return argument instanceof Path path && Proxy.isProxyClass(path.getClass())
        ? Path.of(path.toString())
        : argument;
  }

  private static Path real(Path path) {
    return (Path) real((Object) path);
  }

  @Override
  public FileSystemProvider provider() {
    return provider;
  }

  @Override
  public void close() {}

  @Override
  public boolean isOpen() {
    return true;
  }

  @Override
  public boolean isReadOnly() {
    return false;
  }

  @Override
  public String getSeparator() {
    return files.getSeparator();
  }

  @Override
  public Iterable<Path> getRootDirectories() {
    return files.getRootDirectories();
  }

  @Override
  public Iterable<FileStore> getFileStores() {
    return files.getFileStores();
  }

  @Override
  public Set<String> supportedFileAttributeViews() {
    return files.supportedFileAttributeViews();
  }

  @Override
  public Path getPath(String first, String... more) {
    return wrap(files.getPath(first, more));
  }

  @Override
  public PathMatcher getPathMatcher(String pattern) {
    return files.getPathMatcher(pattern);
  }

  @Override
  public UserPrincipalLookupService getUserPrincipalLookupService() {
    return files.getUserPrincipalLookupService();
  }

  @Override
  public WatchService newWatchService() throws IOException {
    return files.newWatchService();
  }

  private final class Provider extends FileSystemProvider {
    private final FileSystemProvider to;

    Provider(FileSystemProvider to) {
      this.to = to;
    }

    @Override
    public String getScheme() {
      return "killed";
    }

    @Override
    public FileSystem newFileSystem(URI uri, Map<String, ?> environment) {
      return KilledFiles.this;
    }

    @Override
    public FileSystem getFileSystem(URI uri) {
      return KilledFiles.this;
    }

    @Override
    public Path getPath(URI uri) {
      return wrap(to.getPath(uri));
    }

    private void open(Set<? extends OpenOption> options) {
      if (options.contains(StandardOpenOption.WRITE)) {
        change();
      }
    }

    @Override
    public FileChannel newFileChannel(
        Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
        throws IOException {
      open(options);
      return to.newFileChannel(real(path), options, attributes);
    }

    @Override
    public SeekableByteChannel newByteChannel(
        Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
        throws IOException {
      open(options);
      return to.newByteChannel(real(path), options, attributes);
    }

    @Override
    public DirectoryStream<Path> newDirectoryStream(
        Path path, DirectoryStream.Filter<? super Path> filter) throws IOException {
      List<Path> all = new ArrayList<>();
      try (DirectoryStream<Path> found = to.newDirectoryStream(real(path), filter)) {
        found.forEach(each -> all.add(wrap(each)));
      }
      return new DirectoryStream<>() {
        @Override
        public Iterator<Path> iterator() {
          return all.iterator();
        }

        @Override
        public void close() {}
      };
    }

    @Override
    public void createDirectory(Path path, FileAttribute<?>... attributes) throws IOException {
      change();
      to.createDirectory(real(path), attributes);
    }

    @Override
    public void delete(Path path) throws IOException {
      change();
      to.delete(real(path));
    }

    @Override
    public void copy(Path source, Path target, CopyOption... options) throws IOException {
      change();
      to.copy(real(source), real(target), options);
    }

    @Override
    public void move(Path source, Path target, CopyOption... options) throws IOException {
      change();
      to.move(real(source), real(target), options);
    }

    @Override
    public boolean isSameFile(Path path, Path other) throws IOException {
      return to.isSameFile(real(path), real(other));
    }

    @Override
    public boolean isHidden(Path path) throws IOException {
      return to.isHidden(real(path));
    }

    @Override
    public FileStore getFileStore(Path path) throws IOException {
      return to.getFileStore(real(path));
    }

    @Override
    public void checkAccess(Path path, AccessMode... modes) throws IOException {
      to.checkAccess(real(path), modes);
    }

    @Override
    public <V extends FileAttributeView> V getFileAttributeView(
        Path path, Class<V> type, LinkOption... options) {
      return to.getFileAttributeView(real(path), type, options);
    }

    @Override
    public <A extends BasicFileAttributes> A readAttributes(
        Path path, Class<A> type, LinkOption... options) throws IOException {
      return to.readAttributes(real(path), type, options);
    }

    @Override
    public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options)
        throws IOException {
      return to.readAttributes(real(path), attributes, options);
    }

    @Override
    public void setAttribute(Path path, String attribute, Object value, LinkOption... options)
        throws IOException {
      to.setAttribute(real(path), attribute, value, options);
    }
  }
}
