package io.firstseen.benchmarks.serve;

import com.sun.net.httpserver.HttpServer;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.BlobReference;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.ManifestShard;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.Snapshot;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.SnapshotParameters;
import io.firstseen.server.ServerOptions;
import io.firstseen.server.ServiceLog;
import io.firstseen.server.SetSource;
import io.firstseen.server.SnapshotServer;
import io.firstseen.server.http.AllowedHosts;
import io.firstseen.server.http.HttpLimits;
import io.firstseen.server.http.HttpService;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.RequestObserver;
import io.firstseen.server.http.Route;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;

/**
 * The measured process: the service over a set, an empty handler of the same server, and an empty
 * handler of the JDK's server. Prints their ports and ends when its standard input does.
 */
final class ServedProcess {
  private static final int SHARDS = 16;

  private ServedProcess() {}

  /** The i-th key of the set. */
  static String key(int i) {
    return String.format("https://example.org/page-%08d", i);
  }

  /** Arguments: an empty directory, and a number of keys. */
  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    publish(new SnapshotDirectory(directory), Integer.parseInt(arguments[1]));
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    SnapshotServer server =
        SnapshotServer.start(
            ServerOptions.at(any),
            List.of(
                SetSource.directory(
                    directory, "bench", KeyHash.fixed(), List.of(), Optional.empty())),
            new ServiceLog() {});
    byte[] body = "{\"present\":true}\n".getBytes(StandardCharsets.US_ASCII);
    HttpService empty =
        HttpService.start(
            any,
            HttpLimits.DEFAULT,
            AllowedHosts.any(),
            Duration.ZERO,
            new RequestObserver() {},
            List.of(
                Route.get("empty", "/empty", request -> Reply.of(200, "application/json", body))));
    System.setProperty("sun.net.httpserver.nodelay", "true");
    HttpServer jdk = HttpServer.create(any, 0);
    jdk.createContext(
        "/empty",
        exchange -> {
          exchange.getResponseHeaders().set("content-type", "application/json");
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    jdk.start();
    System.out.println(
        server.address().getPort()
            + " "
            + empty.address().getPort()
            + " "
            + jdk.getAddress().getPort());
    while (System.in.read() >= 0) {}
    System.exit(0);
  }

  private static void publish(SnapshotDirectory directory, int keys) throws Exception {
    KeyHash hash = KeyHash.fixed();
    SetParameters parameters = SetParameters.of(hash, Canonicaliser.URL, new Shards(SHARDS), 0.001);
    long[] hashes = new long[keys];
    for (int i = 0; i < keys; i++) {
      hashes[i] = hash.hash(key(i).getBytes(StandardCharsets.UTF_8));
    }
    List<ManifestShard> shards = new ArrayList<>();
    for (int shard = 0; shard < SHARDS; shard++) {
      int number = shard;
      long[] own =
          LongStream.of(hashes)
              .filter(each -> parameters.shards().shardOf(each) == number)
              .toArray();
      Snapshot snapshot =
          Snapshot.build(own, new SnapshotParameters(parameters, "bench", shard, 1, 0, 1));
      directory.writeBlob(snapshot.digest(), snapshot.toBytes());
      shards.add(ManifestShard.of(shard, own.length, BlobReference.to(snapshot)));
    }
    directory.writeManifest(Manifest.of("bench", 1, 0, 1, parameters, shards));
  }
}
