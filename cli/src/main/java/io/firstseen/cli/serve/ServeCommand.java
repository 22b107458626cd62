package io.firstseen.cli.serve;

import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.cli.shared.SnapshotTopicOptions;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestCheck;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.jobs.options.HashKeyOptions;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.jobs.shared.UserErrorException;
import io.firstseen.server.ServerOptions;
import io.firstseen.server.SetSource;
import io.firstseen.server.SnapshotServer;
import io.firstseen.server.http.AllowedHosts;
import io.firstseen.server.http.HttpLimits;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Answers over HTTP whether keys are in sets, until it is stopped. */
@Command(
    name = "serve",
    description = {
      "Follows sets of keys and answers over HTTP whether a key is in them; / is a page for"
          + " browsers.",
      "There is no password: it listens only on this machine unless --host says otherwise."
    })
public final class ServeCommand implements Callable<Integer> {
  /** The jobs' default name of a set. */
  private static final String DEFAULT_SET = "firstseen";

  @ArgGroup(multiplicity = "1")
  private Origin origin;

  @Option(
      names = "--set",
      paramLabel = "NAME",
      converter = OptionValues.SetName.class,
      description =
          "The name of the set; may be repeated with --bootstrap-servers (default: that of the"
              + " newest manifest in --directory, else "
              + DEFAULT_SET
              + ").")
  private List<String> setNames = List.of();

  @Mixin private SnapshotTopicOptions topic;

  @Mixin private HashKeyOptions hashKey;

  @Option(
      names = "--cache-dir",
      paramLabel = "DIR",
      description =
          "With --bootstrap-servers: keep snapshots in files there, so that the next start answers"
              + " at once and reads only what came since (default: in memory).")
  private Path cacheDirectory;

  @Option(
      names = "--stale-after",
      paramLabel = "DURATION",
      converter = OptionValues.PositiveDuration.class,
      description =
          "The age since its publication from which on a snapshot is stale. One whose manifest has"
              + " expired is stale in any case (default: no age is too high).")
  private Duration staleAfter;

  @Option(names = "--refuse-stale", description = "Answer 503 while the snapshot is stale.")
  private boolean refuseStale;

  @Option(
      names = "--host",
      paramLabel = "HOST",
      defaultValue = "127.0.0.1",
      description = "The address to listen on; 0.0.0.0 for all (default: ${DEFAULT-VALUE}).")
  private String host;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "8080",
      converter = Port.class,
      description = "The port to listen on; 0 takes a free one (default: ${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "--allow-host",
      paramLabel = "NAME",
      description =
          "A name that the Host header of a request may have, besides IP addresses and localhost; may"
              + " be repeated, * allows all (default: all; if --host is reachable only from this"
              + " machine, that name).")
  private List<String> allowedHosts = List.of();

  @Option(
      names = "--max-connections",
      paramLabel = "N",
      defaultValue = "1024",
      converter = Count.class,
      description = "Connections at one time (default: ${DEFAULT-VALUE}).")
  private int maxConnections;

  @Option(
      names = "--max-connections-per-peer",
      paramLabel = "N",
      defaultValue = "256",
      converter = Count.class,
      description =
          "Connections of one address at one time; a proxy in front is one address (default:"
              + " ${DEFAULT-VALUE}).")
  private int maxConnectionsPerPeer;

  @Option(
      names = "--health-connections",
      paramLabel = "N",
      defaultValue = "16",
      converter = CountOrNone.class,
      description =
          "Further connections, which may ask only for /healthz and /readyz (default:"
              + " ${DEFAULT-VALUE}).")
  private int healthConnections;

  @Option(
      names = "--max-body",
      paramLabel = "SIZE",
      defaultValue = "1m",
      converter = OptionValues.ByteCount.class,
      description = "The most bytes of a request's body (default: ${DEFAULT-VALUE}).")
  private long maxBodyBytes;

  @Option(
      names = "--max-bodies",
      paramLabel = "SIZE",
      converter = OptionValues.ByteCount.class,
      description =
          "The most bytes of the bodies of all current requests and their replies (default: a"
              + " sixteenth of the heap, at most 64m, at least --max-body).")
  private Long maxBodiesBytes;

  @Option(
      names = "--max-batch",
      paramLabel = "N",
      defaultValue = "" + ServerOptions.DEFAULT_MAX_BATCH_KEYS,
      converter = Count.class,
      description = "The most keys in one request (default: ${DEFAULT-VALUE}).")
  private int maxBatchKeys;

  @Option(
      names = "--drain",
      paramLabel = "DURATION",
      defaultValue = "0s",
      converter = OptionValues.DurationValue.class,
      description =
          "How long to serve after SIGTERM while /readyz answers 503, so that a load balancer sees"
              + " it (default: ${DEFAULT-VALUE}).")
  private Duration drain;

  @Option(
      names = "--grace",
      paramLabel = "DURATION",
      defaultValue = "10s",
      converter = OptionValues.DurationValue.class,
      description = "How long to wait after that for running requests (default: ${DEFAULT-VALUE}).")
  private Duration grace;

  @Option(
      names = "--access-log",
      description =
          "Print a line for each request, without its query, which holds keys: address, method,"
              + " path, status, bytes, milliseconds.")
  private boolean accessLog;

  @Option(names = "--json", description = "Print JSON objects, one per line.")
  private boolean json;

  @Spec private CommandSpec spec;

  /** The source of snapshots. */
  static final class Origin {
    @Option(
        names = "--bootstrap-servers",
        paramLabel = "HOST:PORT,...",
        description = "Brokers to ask first: sets come from a topic.")
    private String bootstrapServers;

    @Option(
        names = "--directory",
        paramLabel = "DIR",
        description = "A directory of snapshots, watched for new ones: no Kafka is needed.")
    private Path directory;
  }

  /** A port; 0 for any free one. */
  static final class Port extends OptionValues.WholeNumber {
    Port() {
      super(0, 65_535);
    }
  }

  /** A number of at least 0. */
  static final class CountOrNone extends OptionValues.WholeNumber {
    CountOrNone() {
      super(0, 1_000_000);
    }
  }

  /** A number of at least 1. */
  static final class Count extends OptionValues.WholeNumber {
    Count() {
      super(1, 1_000_000);
    }
  }

  @Override
  public Integer call() throws Exception {
    List<SetSource> sources = sources();
    ServerOptions options = options();
    ServeLines lines = new ServeLines(spec.commandLine(), json, accessLog);
    return Cleanup.after(
        cleanup -> {
          SnapshotServer server = cleanup.open(() -> start(options, sources, lines));
          lines.serving(
              sources.stream().map(SetSource::setName).toList(), from(), url(server.address()));
          new CountDownLatch(1).await();
          return ExitCode.GOOD;
        });
  }

  private static SnapshotServer start(
      ServerOptions options, List<SetSource> sources, ServeLines lines) {
    try {
      return SnapshotServer.start(options, sources, lines);
    } catch (IOException e) {
      throw new UserErrorException(e.getMessage());
    }
  }

  private ServerOptions options() {
    if (maxBodyBytes < 1 || maxBodyBytes > 1 << 30) {
      throw new UserErrorException("--max-body must be in [1, 1g], got " + maxBodyBytes);
    }
    if (maxBodiesBytes != null && maxBodiesBytes < maxBodyBytes) {
      throw new UserErrorException(
          "--max-bodies must be at least --max-body, %d, got %d"
              .formatted(maxBodyBytes, maxBodiesBytes));
    }
    InetSocketAddress address = new InetSocketAddress(host, port);
    HttpLimits limits =
        HttpLimits.DEFAULT
            .withMaxConnections(maxConnections, maxConnectionsPerPeer, healthConnections)
            .withMaxBodyBytes(Math.toIntExact(maxBodyBytes));
    return new ServerOptions(
        address,
        allowedHosts(address),
        refuseStale,
        maxBodiesBytes == null ? limits : limits.withMaxBodiesBytes(maxBodiesBytes),
        maxBatchKeys,
        drain,
        grace);
  }

  private AllowedHosts allowedHosts(InetSocketAddress address) {
    if (allowedHosts.isEmpty()) {
      return AllowedHosts.defaultFor(address);
    }
    try {
      return AllowedHosts.only(allowedHosts);
    } catch (IllegalArgumentException e) {
      throw new UserErrorException("--allow-host " + e.getMessage());
    }
  }

  private List<SetSource> sources() {
    KeyHash keyHash = hashKey.keyHash();
    if (origin.directory != null) {
      if (topic.saysWhereBlobsAre() || cacheDirectory != null) {
        throw new UserErrorException("--blobs and --cache-dir are for --bootstrap-servers");
      }
      if (setNames.size() > 1) {
        throw new UserErrorException(
            "a directory holds one set, got --set " + setNames.size() + " times");
      }
      return List.of(
          SetSource.directory(
              origin.directory,
              setNames.isEmpty() ? setIn(origin.directory, topic.trustedKeys()) : setNames.get(0),
              keyHash,
              topic.trustedKeys(),
              Optional.ofNullable(staleAfter)));
    }
    List<String> names = setNames.isEmpty() ? List.of(DEFAULT_SET) : setNames;
    return new LinkedHashSet<>(names).stream().map(name -> onTopic(name, keyHash)).toList();
  }

  private SetSource onTopic(String setName, KeyHash keyHash) {
    SnapshotClientOptions.Builder client =
        topic.client(origin.bootstrapServers, setName).keyHash(keyHash);
    if (cacheDirectory != null) {
      client.cacheDirectory(cacheDirectory);
    }
    if (staleAfter != null) {
      client.staleAfter(staleAfter);
    }
    return SetSource.topic(client);
  }

  static String setIn(Path path, List<TrustedKey> keys) {
    try {
      SnapshotDirectory directory = new SnapshotDirectory(path);
      Manifest newest = directory.latest();
      return keys.isEmpty()
          ? newest.setName()
          : ManifestCheck.requireSigned(directory.manifestBytes(newest.sequence()), keys).setName();
    } catch (SnapshotException e) {
      // The follower will report what is wrong.
      return DEFAULT_SET;
    }
  }

  private String from() {
    return origin.directory != null
        ? origin.directory.toString()
        : "topic " + topic.topic() + " on " + origin.bootstrapServers;
  }

  private static String url(InetSocketAddress address) {
    InetAddress ip = address.getAddress();
    String name = ip.isAnyLocalAddress() ? "localhost" : ip.getHostAddress();
    return "http://%s:%d/"
        .formatted(name.contains(":") ? "[" + name + "]" : name, address.getPort());
  }
}
