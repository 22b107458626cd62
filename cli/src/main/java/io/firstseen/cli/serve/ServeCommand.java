package io.firstseen.cli.serve;

import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.LogFormatOption;
import io.firstseen.cli.shared.SnapshotTopicOptions;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestCheck;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotException;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.jobs.options.DeclaredOptions;
import io.firstseen.jobs.options.HashKeyOptions;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.jobs.options.SnapshotOptions;
import io.firstseen.operators.UserErrorException;
import io.firstseen.server.ServerOptions;
import io.firstseen.server.SetSource;
import io.firstseen.server.SnapshotServer;
import io.firstseen.server.http.Access;
import io.firstseen.server.http.AllowedHosts;
import io.firstseen.server.http.BearerTokens;
import io.firstseen.server.http.HttpLimits;
import io.firstseen.server.http.Tls;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
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
          + " browsers. Sets of the canonicaliser url-expression are lists, in which it looks up URLs."
          + " All sets have the same hash key.",
      "It listens only on this machine unless --host says otherwise; then give it a token and a"
          + " certificate.",
      "It exits with status 2 if it can use none of its sets, for example because its hash key is not"
          + " the publisher's."
    })
public final class ServeCommand implements Callable<Integer> {
  private static final long POLL_MILLIS = 200;

  private static final String TOKEN_VARIABLE = "FIRSTSEEN_HTTP_TOKEN";

  @ArgGroup(multiplicity = "1")
  private Origin origin;

  @Option(
      names = "--set",
      paramLabel = "NAME",
      converter = OptionValues.SetName.class,
      description =
          "The name of a set; may be repeated. With --directory once for each, in their order"
              + " (default: that of the newest manifest in the directory, else "
              + SnapshotOptions.DEFAULT_SET
              + ").")
  private List<String> setNames = List.of();

  @Option(
      names = "--allow",
      paramLabel = "SET",
      converter = OptionValues.SetName.class,
      description =
          "An allow set: URLs that it lists are not present, whatever lists say; may be repeated."
              + " With --bootstrap-servers one more set to follow; with --directory the set of one of"
              + " the directories.")
  private List<String> allow = List.of();

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
          "A snapshot is stale once this long has passed since its publication. One whose manifest"
              + " has expired is stale in any case (default: no limit).")
  private Duration staleAfter;

  @Option(names = "--refuse-stale", description = "Answer 503 while the snapshot is stale.")
  private boolean refuseStale;

  @Option(
      names = "--window",
      paramLabel = "DURATION",
      converter = OptionValues.PositiveDuration.class,
      description =
          "With --bootstrap-servers: the --window of the snapshot job. With it and --idle-timeout the"
              + " service reports when to expect the first snapshot; it has no other effect.")
  private Duration window;

  @Option(
      names = "--idle-timeout",
      paramLabel = "DURATION",
      converter = OptionValues.PositiveDuration.class,
      description = "With --window: the --idle-timeout of the snapshot job (default: 1m).")
  private Duration idleTimeout;

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
      names = "--token-file",
      paramLabel = "FILE",
      description =
          "A file with tokens, one a line, of 16 to 1024 characters: every request must have one of"
              + " them as 'Authorization: Bearer TOKEN', except requests for /healthz, /readyz and the"
              + " files of the page. Without it the environment variable "
              + TOKEN_VARIABLE
              + " holds them, or else none is needed.")
  private Path tokenFile;

  @Option(
      names = "--tls-certificate",
      paramLabel = "FILE",
      description =
          "Serve https by the certificate in this PEM file, which may have those of its issuers after"
              + " it.")
  private Path tlsCertificate;

  @Option(
      names = "--tls-key",
      paramLabel = "FILE",
      description =
          "The private key of --tls-certificate: a PEM file in PKCS#8, not encrypted, that you alone"
              + " can read.")
  private Path tlsKey;

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
      description = "The most bytes of a request's body, in [1, 1g] (default: ${DEFAULT-VALUE}).")
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

  @Mixin private LogFormatOption log;

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
        description =
            "A directory of snapshots of one set, watched for new ones: no Kafka is needed; may be"
                + " repeated.")
    private List<Path> directories = List.of();
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
    boolean logs = log.apply();
    return Cleanup.after(
        cleanup -> {
          ServeLines lines =
              cleanup.open(() -> new ServeLines(spec.commandLine(), json, logs, accessLog));
          SnapshotServer server = cleanup.open(() -> start(options, sources, lines));
          lines.serving(
              sources.stream().map(SetSource::setName).toList(),
              allow,
              from(),
              url(server.address(), tlsCertificate != null));
          while (true) {
            server
                .unusable()
                .ifPresent(
                    reason -> {
                      throw new UserErrorException(reason);
                    });
            TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
          }
        });
  }

  private SnapshotServer start(ServerOptions options, List<SetSource> sources, ServeLines lines) {
    try {
      return SnapshotServer.start(options, sources, Set.copyOf(allow), lines);
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
    Access access = new Access(allowedHosts(address), tokens(), tls());
    warning(address, access)
        .ifPresent(text -> spec.commandLine().getErr().println("warning: " + text));
    return new ServerOptions(
        address,
        access,
        refuseStale,
        maxBodiesBytes == null ? limits : limits.withMaxBodiesBytes(maxBodiesBytes),
        maxBatchKeys,
        drain,
        grace,
        firstSnapshotWithin());
  }

  private Optional<Duration> firstSnapshotWithin() {
    if (window == null && idleTimeout != null) {
      throw new UserErrorException("--idle-timeout needs --window");
    }
    if (window != null && !origin.directories.isEmpty()) {
      throw new UserErrorException("--window is for --bootstrap-servers");
    }
    return Optional.ofNullable(window)
        .map(
            time ->
                time.plus(
                    idleTimeout == null
                        ? DeclaredOptions.defaultOf("--idle-timeout", Duration.class)
                        : idleTimeout));
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

  private BearerTokens tokens() {
    String ofEnvironment = System.getenv(TOKEN_VARIABLE);
    boolean isInEnvironment = ofEnvironment != null && !ofEnvironment.isBlank();
    if (tokenFile == null && !isInEnvironment) {
      return BearerTokens.none();
    }
    try {
      return tokenFile == null
          ? BearerTokens.parse(ofEnvironment)
          : BearerTokens.fromFile(tokenFile);
    } catch (IOException e) {
      throw UserErrorException.cannot("read --token-file", tokenFile, e);
    } catch (IllegalArgumentException e) {
      throw new UserErrorException(
          (tokenFile == null ? TOKEN_VARIABLE : "--token-file: " + tokenFile)
              + ": "
              + e.getMessage());
    }
  }

  private Tls tls() {
    if (tlsCertificate == null && tlsKey == null) {
      return null;
    }
    if (tlsCertificate == null || tlsKey == null) {
      throw new UserErrorException(
          "--tls-certificate and --tls-key must be given together, got %s alone"
              .formatted(tlsKey == null ? "--tls-certificate" : "--tls-key"));
    }
    try {
      return Tls.fromFiles(tlsCertificate, tlsKey);
    } catch (NoSuchFileException | AccessDeniedException e) {
      throw UserErrorException.cannot("read", Path.of(e.getFile()), e);
    } catch (IOException e) {
      throw UserErrorException.cannot("read", tlsCertificate, e);
    } catch (IllegalArgumentException e) {
      throw new UserErrorException(e.getMessage());
    }
  }

  /** What is missing where other machines can ask; empty if nothing is. */
  static Optional<String> warning(InetSocketAddress address, Access access) {
    if (address.isUnresolved() || address.getAddress().isLoopbackAddress()) {
      return Optional.empty();
    }
    boolean needsToken = access.tokens().areNeeded();
    if (access.tls() != null) {
      return needsToken
          ? Optional.empty()
          : Optional.of(
              "whoever reaches %s may ask: give --token-file, or put a proxy in front that asks for"
                      .formatted(address.getHostString())
                  + " a password");
    }
    return Optional.of(
        (needsToken
                ? "tokens, keys and answers go to and from %s unencrypted: give --tls-certificate and"
                    + " --tls-key, or put a proxy in front that encrypts"
                : "whoever reaches %s may ask, and nothing is encrypted: give --token-file,"
                    + " --tls-certificate and --tls-key, or put a proxy in front that does both")
            .formatted(address.getHostString()));
  }

  private List<SetSource> sources() {
    KeyHash keyHash = hashKey.keyHash();
    if (!origin.directories.isEmpty()) {
      return inDirectories(keyHash);
    }
    Set<String> names =
        new LinkedHashSet<>(setNames.isEmpty() ? List.of(SnapshotOptions.DEFAULT_SET) : setNames);
    names.addAll(allow);
    return names.stream().map(name -> onTopic(name, keyHash)).toList();
  }

  private List<SetSource> inDirectories(KeyHash keyHash) {
    if (topic.hasBlobLocation() || cacheDirectory != null) {
      throw new UserErrorException("--blobs and --cache-dir are for --bootstrap-servers");
    }
    List<Path> directories = origin.directories;
    if (!setNames.isEmpty() && setNames.size() != directories.size()) {
      throw new UserErrorException(
          "--set must be given once for each --directory, in their order, or not at all; got %d for %d"
              .formatted(setNames.size(), directories.size()));
    }
    Map<String, Path> bySet = new LinkedHashMap<>();
    for (int i = 0; i < directories.size(); i++) {
      Path directory = directories.get(i);
      if (Files.isRegularFile(directory)) {
        throw new UserErrorException("--directory %s is a file".formatted(directory));
      }
      String set = setNames.isEmpty() ? setIn(directory, topic.trustedKeys()) : setNames.get(i);
      Path other = bySet.putIfAbsent(set, directory);
      if (other != null) {
        throw new UserErrorException(
            "each --directory must have a set of its own, %s and %s have '%s'; --set names them"
                .formatted(other, directory, set));
      }
    }
    for (String name : allow) {
      if (!bySet.containsKey(name)) {
        throw new UserErrorException(
            "--allow must be the set of a --directory, %s; got '%s'"
                .formatted(String.join(" or ", bySet.keySet()), name));
      }
    }
    return bySet.entrySet().stream()
        .map(
            each ->
                SetSource.directory(
                    each.getValue(),
                    each.getKey(),
                    keyHash,
                    topic.trustedKeys(),
                    Optional.ofNullable(staleAfter)))
        .toList();
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

  /** The set of the newest manifest that can be used, as the follower takes that one, too. */
  static String setIn(Path path, List<TrustedKey> keys) {
    SnapshotDirectory directory = new SnapshotDirectory(path);
    List<Long> sequences;
    try {
      sequences = directory.sequences();
    } catch (SnapshotException e) {
      // The follower will report what is wrong.
      return SnapshotOptions.DEFAULT_SET;
    }
    for (int i = sequences.size() - 1; i >= 0; i--) {
      try {
        byte[] bytes = directory.manifestBytes(sequences.get(i));
        Manifest manifest =
            keys.isEmpty() ? Manifest.read(bytes) : ManifestCheck.requireSigned(bytes, keys);
        return manifest.setName();
      } catch (SnapshotException e) {
        // One that is only half there, for instance; the follower passes over it as well.
      }
    }
    return SnapshotOptions.DEFAULT_SET;
  }

  private String from() {
    return origin.bootstrapServers == null
        ? origin.directories.stream().map(Path::toString).collect(Collectors.joining(", "))
        : "topic " + topic.topic() + " on " + origin.bootstrapServers;
  }

  private static String url(InetSocketAddress address, boolean isEncrypted) {
    InetAddress ip = address.getAddress();
    String name = ip.isAnyLocalAddress() ? "localhost" : ip.getHostAddress();
    return "%s://%s:%d/"
        .formatted(
            isEncrypted ? "https" : "http",
            name.contains(":") ? "[" + name + "]" : name,
            address.getPort());
  }
}
