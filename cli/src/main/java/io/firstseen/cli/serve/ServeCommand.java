package io.firstseen.cli.serve;

import io.firstseen.cli.shared.Cleanup;
import io.firstseen.cli.shared.JsonVerb;
import io.firstseen.cli.shared.LogFormatOption;
import io.firstseen.cli.shared.SnapshotTopicOptions;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.consumer.internal.DirectorySource;
import io.firstseen.consumer.internal.HttpSource;
import io.firstseen.consumer.internal.SnapshotSource;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestCheck;
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
import java.net.URI;
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
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Serves sets of keys over HTTP until it is stopped. */
@Command(
    name = "serve",
    footer = {
      "  firstseen serve --directory snapshots",
      "  firstseen serve --directory https://lists.example.org/phishing/",
      "  firstseen serve --bootstrap-servers kafka:9092 --set spam --cache-dir cache",
      "  firstseen serve --bootstrap-servers kafka:9092 --host 0.0.0.0 \\",
      "      --token-file tokens --tls-certificate cert.pem --tls-key key.pem"
    },
    description = {
      "Follows sets of keys, which must have the same hash key, and reports over HTTP whether a"
          + " key is in them; / is a page for browsers. In sets with the canonicaliser "
          + "url-expression, it looks up URLs.",
      "The service only listens on this machine unless --host is set; then also set a token and"
          + " a certificate. It exits with status 2 if none of its sets is usable."
    })
public final class ServeCommand extends JsonVerb {
  private static final long POLL_MILLIS = 200;
  private static final String TOKEN_VARIABLE = "FIRSTSEEN_HTTP_TOKEN";

  @ArgGroup(multiplicity = "1")
  private Origin origin;

  @Option(
      names = "--set",
      paramLabel = "NAME",
      converter = OptionValues.SetName.class,
      description =
          "Name of a set; may be repeated. With --directory, one per directory in the same order "
              + "(default: the set of its newest manifest, else "
              + SnapshotOptions.DEFAULT_SET
              + ").")
  private List<String> setNames = List.of();

  @Option(
      names = "--allow",
      paramLabel = "SET",
      converter = OptionValues.SetName.class,
      description =
          "Name of an allow set: URLs that it lists are absent, whatever other lists "
              + "contain; may be repeated. With --directory, the set of one of the directories; with "
              + "--bootstrap-servers, the service also follows this set.")
  private List<String> allow = List.of();

  @Mixin private SnapshotTopicOptions topic;

  @Mixin private HashKeyOptions hashKey;

  @Option(
      names = "--cache-dir",
      paramLabel = "DIR",
      description =
          "Directory for snapshots, so that a restarted service is ready immediately "
              + "(default: in memory). Needs --bootstrap-servers.")
  private Path cacheDirectory;

  @Option(
      names = "--stale-after",
      paramLabel = "DURATION",
      converter = OptionValues.PositiveDuration.class,
      description =
          "Age after which a snapshot is stale; it also is when its manifest has expired "
              + "(default: no limit).")
  private Duration staleAfter;

  @Option(
      names = "--refuse-stale",
      description = "Respond with status 503 while the snapshot is stale.")
  private boolean refuseStale;

  @Option(
      names = "--window",
      paramLabel = "DURATION",
      converter = OptionValues.PositiveDuration.class,
      description =
          "The --window of the snapshot job, to report when to expect the first snapshot. "
              + "Needs --bootstrap-servers.")
  private Duration window;

  @Option(
      names = "--idle-timeout",
      paramLabel = "DURATION",
      converter = OptionValues.PositiveDuration.class,
      description = "The --idle-timeout of the snapshot job. Needs --window (default: 1m).")
  private Duration idleTimeout;

  @Option(
      names = "--host",
      paramLabel = "HOST",
      defaultValue = "127.0.0.1",
      description = "Address to listen on; 0.0.0.0 for all addresses (default: ${DEFAULT-VALUE}).")
  private String host;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      defaultValue = "8080",
      converter = OptionValues.Port.class,
      description = "Port to listen on; 0 selects a free port (default: ${DEFAULT-VALUE}).")
  private int port;

  @Option(
      names = "--allow-host",
      paramLabel = "NAME",
      description =
          "Name that is accepted in the Host header, besides IP addresses and localhost; "
              + "may be repeated, * accepts all (default: all; for a local --host, its name).")
  private List<String> allowedHosts = List.of();

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description =
          "File with tokens of 16 to 1024 characters, one per line. Every request, except for "
              + "/healthz, /readyz and the page, must contain one as 'Authorization: Bearer TOKEN' "
              + "(default: the environment variable "
              + TOKEN_VARIABLE
              + ", else no token is needed).")
  private Path tokenFile;

  @Option(
      names = "--tls-certificate",
      paramLabel = "FILE",
      description =
          "PEM file with the certificate for https, and optionally the certificates of its issuers.")
  private Path tlsCertificate;

  @Option(
      names = "--tls-key",
      paramLabel = "FILE",
      description =
          "Unencrypted PEM file (PKCS#8) with the private key, readable only by its owner.")
  private Path tlsKey;

  @Option(
      names = "--max-connections",
      paramLabel = "N",
      defaultValue = "1024",
      converter = OptionValues.Count.class,
      description = "Maximum number of concurrent connections (default: ${DEFAULT-VALUE}).")
  private int maxConnections;

  @Option(
      names = "--max-connections-per-peer",
      paramLabel = "N",
      defaultValue = "256",
      converter = OptionValues.Count.class,
      description =
          "Maximum number of concurrent connections per address; all clients behind a proxy have "
              + "the same address (default: ${DEFAULT-VALUE}).")
  private int maxConnectionsPerPeer;

  @Option(
      names = "--health-connections",
      paramLabel = "N",
      defaultValue = "16",
      converter = OptionValues.CountOrNone.class,
      description =
          "Number of additional connections for /healthz and /readyz (default: ${DEFAULT-VALUE}).")
  private int healthConnections;

  @Option(
      names = "--max-body",
      paramLabel = "SIZE",
      defaultValue = "1m",
      converter = OptionValues.ByteCount.class,
      description = "Maximum size of a request body, in [1, 1g] (default: ${DEFAULT-VALUE}).")
  private long maxBodyBytes;

  @Option(
      names = "--max-bodies",
      paramLabel = "SIZE",
      converter = OptionValues.ByteCount.class,
      description =
          "Maximum total size of the bodies of current requests and responses (default: a "
              + "sixteenth of the heap, at most 64m, at least --max-body).")
  private Long maxBodiesBytes;

  @Option(
      names = "--max-batch",
      paramLabel = "N",
      defaultValue = "" + ServerOptions.DEFAULT_MAX_BATCH_KEYS,
      converter = OptionValues.Count.class,
      description = "Maximum number of keys per request (default: ${DEFAULT-VALUE}).")
  private int maxBatchKeys;

  @Option(
      names = "--drain",
      paramLabel = "DURATION",
      defaultValue = "0s",
      converter = OptionValues.DurationValue.class,
      description =
          "Time to keep serving after SIGTERM, with status 503 for /readyz (default: "
              + "${DEFAULT-VALUE}).")
  private Duration drain;

  @Option(
      names = "--grace",
      paramLabel = "DURATION",
      defaultValue = "10s",
      converter = OptionValues.DurationValue.class,
      description = "Time to wait for running requests after --drain (default: ${DEFAULT-VALUE}).")
  private Duration grace;

  @Option(
      names = "--access-log",
      description =
          "Print a line per request: address, method, path, status, bytes, milliseconds. "
              + "The path has no query.")
  private boolean accessLog;

  @Mixin private LogFormatOption log;

  static final class Origin {
    @Option(
        names = "--bootstrap-servers",
        paramLabel = "HOST:PORT,...",
        description = "Kafka bootstrap servers, to read the sets from a topic.")
    private String bootstrapServers;

    @Option(
        names = "--directory",
        paramLabel = "DIR",
        description =
            "Directory with snapshots of one set, or its http:// or https:// address. The "
                + "service polls it; may be repeated.")
    private List<String> directories = List.of();
  }

  @Override
  public Integer call() throws Exception {
    List<SetSource> sources = sources();
    ServerOptions options = options();
    boolean logs = log.apply();
    return Cleanup.after(
        cleanup -> {
          ServeLines lines =
              cleanup.open(() -> new ServeLines(commandLine(), isJson(), logs, accessLog));
          SnapshotServer server = cleanup.open(() -> start(options, sources, lines));
          lines.serving(
              sources.stream().map(SetSource::setName).toList(),
              allow,
              from(),
              url(server.address(), tlsCertificate != null));
          Optional<String> unusable = server.unusable();
          while (unusable.isEmpty()) {
            TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
            unusable = server.unusable();
          }
          throw new UserErrorException(unusable.get());
        });
  }

  private SnapshotServer start(ServerOptions options, List<SetSource> sources, ServeLines lines) {
    try {
      return SnapshotServer.start(options, sources, Set.copyOf(allow), lines);
    } catch (IOException e) {
      String advice =
          e.getMessage().endsWith(" is in use") ? ": choose another one with --port" : "";
      throw new UserErrorException(e.getMessage() + advice);
    }
  }

  private ServerOptions options() {
    if (maxBodyBytes < 1 || maxBodyBytes > 1 << 30) {
      throw new UserErrorException("--max-body must be in [1, 1g], got " + maxBodyBytes);
    }
    InetSocketAddress address = new InetSocketAddress(host, port);
    HttpLimits limits =
        HttpLimits.DEFAULT
            .withMaxConnections(maxConnections, maxConnectionsPerPeer, healthConnections)
            .withMaxBodyBytes((int) maxBodyBytes);
    Access access = new Access(allowedHosts(address), tokens(), tls());
    warning(address, access).ifPresent(text -> err().println("warning: " + text));
    return accepted(
        () ->
            new ServerOptions(
                address,
                access,
                refuseStale,
                maxBodiesBytes == null
                    ? limits
                    : accepted("--max-bodies: ", () -> limits.withMaxBodiesBytes(maxBodiesBytes)),
                maxBatchKeys,
                drain,
                grace,
                firstSnapshotWithin()));
  }

  private Optional<Duration> firstSnapshotWithin() {
    if (window == null && idleTimeout != null) {
      throw new UserErrorException("--idle-timeout needs --window");
    }
    if (window != null && !origin.directories.isEmpty()) {
      throw new UserErrorException("--window is for --bootstrap-servers");
    }
    Duration idle =
        Optional.ofNullable(idleTimeout)
            .orElseGet(() -> DeclaredOptions.defaultOf("--idle-timeout", Duration.class));
    return Optional.ofNullable(window).map(idle::plus);
  }

  private AllowedHosts allowedHosts(InetSocketAddress address) {
    return allowedHosts.isEmpty()
        ? AllowedHosts.defaultFor(address)
        : accepted("--allow-host ", () -> AllowedHosts.only(allowedHosts));
  }

  private BearerTokens tokens() {
    if (tokenFile == null) {
      String tokens = System.getenv(TOKEN_VARIABLE);
      return tokens == null || tokens.isBlank()
          ? BearerTokens.none()
          : accepted(TOKEN_VARIABLE + ": ", () -> BearerTokens.parse(tokens));
    }
    try {
      return BearerTokens.fromFile(tokenFile);
    } catch (IOException e) {
      throw UserErrorException.cannot("read --token-file", tokenFile, e);
    } catch (IllegalArgumentException e) {
      throw new UserErrorException("--token-file: " + tokenFile + ": " + e.getMessage());
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

  /** Warns of missing access control if other machines can connect. */
  static Optional<String> warning(InetSocketAddress address, Access access) {
    if (address.isUnresolved() || address.getAddress().isLoopbackAddress()) {
      return Optional.empty();
    }
    boolean isOpen = !access.tokens().areNeeded();
    boolean isPlain = access.tls() == null;
    return isOpen || isPlain
        ? Optional.of(
            "other machines can reach %s%s%s, or put a proxy with TLS and authentication in front"
                .formatted(
                    address.getHostString(),
                    isOpen ? "; anyone can query it: set --token-file" : "",
                    isPlain
                        ? "; the traffic is unencrypted, including tokens and keys: set"
                            + " --tls-certificate and --tls-key"
                        : ""))
        : Optional.empty();
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
    List<String> directories = origin.directories;
    if (!setNames.isEmpty() && setNames.size() != directories.size()) {
      throw new UserErrorException(
          "--set must be given once for each --directory, in their order, or not at all; got %d for %d"
              .formatted(setNames.size(), directories.size()));
    }
    Map<String, String> bySet = new LinkedHashMap<>();
    for (int i = 0; i < directories.size(); i++) {
      String directory = directories.get(i);
      if (!HttpSource.isHttp(directory) && Files.isRegularFile(Path.of(directory))) {
        throw new UserErrorException("--directory %s is a file".formatted(directory));
      }
      String set =
          setNames.isEmpty() ? setIn(source(directory), topic.trustedKeys()) : setNames.get(i);
      String other = bySet.putIfAbsent(set, directory);
      if (other != null) {
        throw new UserErrorException(
            "each --directory must have a different set, but %s and %s have '%s'; set their names with --set"
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
        .map(each -> inDirectory(each.getValue(), each.getKey(), keyHash))
        .toList();
  }

  private static SnapshotSource source(String directory) {
    return accepted(
        "--directory: ",
        () ->
            HttpSource.isHttp(directory)
                ? new HttpSource(URI.create(directory))
                : new DirectorySource(Path.of(directory), ""));
  }

  private SetSource inDirectory(String directory, String setName, KeyHash keyHash) {
    Optional<Duration> stale = Optional.ofNullable(staleAfter);
    List<TrustedKey> keys = topic.trustedKeys();
    return source(directory) instanceof HttpSource http
        ? SetSource.address(URI.create(http.place()), setName, keyHash, keys, stale)
        : SetSource.directory(Path.of(directory), setName, keyHash, keys, stale);
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

  /** The set of the newest usable manifest, which the follower also selects. */
  static String setIn(SnapshotSource source, List<TrustedKey> keys) {
    List<Long> sequences;
    try {
      sequences = source.sequences();
    } catch (SnapshotException e) {
      // The follower will report the problem.
      return SnapshotOptions.DEFAULT_SET;
    }
    for (int i = sequences.size() - 1; i >= 0; i--) {
      try {
        byte[] bytes = source.manifest(sequences.get(i));
        return (keys.isEmpty() ? Manifest.read(bytes) : ManifestCheck.requireSigned(bytes, keys))
            .setName();
      } catch (IOException e) {
        // The manifest may be incomplete, for example; the follower also skips it.
      }
    }
    return SnapshotOptions.DEFAULT_SET;
  }

  private String from() {
    return origin.bootstrapServers == null
        ? String.join(", ", origin.directories)
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
