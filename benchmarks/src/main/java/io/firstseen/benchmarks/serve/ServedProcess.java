package io.firstseen.benchmarks.serve;

import com.sun.net.httpserver.HttpServer;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.server.ServerOptions;
import io.firstseen.server.ServiceLog;
import io.firstseen.server.SetSource;
import io.firstseen.server.SnapshotServer;
import io.firstseen.server.http.Access;
import io.firstseen.server.http.AllowedHosts;
import io.firstseen.server.http.HttpLimits;
import io.firstseen.server.http.HttpService;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.RequestObserver;
import io.firstseen.server.http.Route;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * The measured process: the service over a set, the service over a list, an empty handler of the
 * same server, and an empty handler of the JDK's server. Prints their ports and ends when its
 * standard input does.
 */
final class ServedProcess {
  static final String SET = "bench";

  private ServedProcess() {}

  /**
   * What to serve.
   *
   * @param set the directory of the set
   * @param list the directory of the list
   */
  record Spec(String set, String list) {}

  public static void main(String[] arguments) throws Exception {
    Spec spec = ChildJvm.specification(arguments, Spec.class);
    InetSocketAddress any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    SnapshotServer set = serve(any, Path.of(spec.set()));
    SnapshotServer list = serve(any, Path.of(spec.list()));
    byte[] body = "{\"present\":true}\n".getBytes(StandardCharsets.US_ASCII);
    HttpService empty =
        new HttpService(
            any,
            HttpLimits.DEFAULT,
            Access.by(AllowedHosts.any()),
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
        set.address().getPort()
            + " "
            + list.address().getPort()
            + " "
            + empty.address().getPort()
            + " "
            + jdk.getAddress().getPort());
    while (System.in.read() >= 0) {}
    System.exit(0);
  }

  private static SnapshotServer serve(InetSocketAddress address, Path directory)
      throws IOException {
    return SnapshotServer.start(
        ServerOptions.at(address),
        List.of(SetSource.directory(directory, SET, KeyHash.fixed(), List.of(), Optional.empty())),
        new ServiceLog() {});
  }
}
