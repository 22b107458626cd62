package io.firstseen.benchmarks.serve;

import com.sun.net.httpserver.HttpServer;
import io.firstseen.benchmarks.FiguresProgram;
import io.firstseen.benchmarks.compaction.WindowPublisher;
import io.firstseen.benchmarks.shared.ChildJvm;
import io.firstseen.benchmarks.shared.Processors;
import io.firstseen.benchmarks.shared.Turns;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.snapshot.SnapshotDirectory;
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
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import picocli.CommandLine.Option;

/**
 * Requests per second of the service on one core, for single keys and for URLs looked up in a list,
 * against an empty handler of the same server; another core sends the requests. Rounds alternate;
 * the figures are medians. If the core is not always busy, the rate includes waiting, so the ratio
 * is computed from CPU time per request. Exits with status 1 if the ratio of a key is below its
 * bound.
 */
public final class ServeFigures extends FiguresProgram {
  private static final double WANTED_RATIO = 0.7;
  private static final int ASKED_KEYS = 4_000;

  @Option(
      names = "--keys",
      defaultValue = "1000000",
      description = "Keys of the set, entries of the list.")
  private int keys;

  @Option(names = "--rounds", defaultValue = "5", description = "Rounds of each subject.")
  private int rounds;

  @Option(names = "--seconds", defaultValue = "3", description = "Of a round.")
  private int seconds;

  @Option(names = "--connections", defaultValue = "32", description = "Connections at a time.")
  private int connections;

  public static void main(String[] arguments) {
    exit(new ServeFigures(), arguments);
  }

  private record Subject(String name, int port, List<String> targets, String expected) {}

  @Override
  protected void measure(Path directory) throws Exception {
    Path set = Files.createDirectory(directory.resolve("set"));
    Path list = Files.createDirectory(directory.resolve("list"));
    publish(set, Canonicaliser.URL, ServeFigures::key);
    publish(list, Canonicaliser.URL_EXPRESSION, i -> host(i) + "/");
    // On a separate core if the system supports that.
    try (ChildJvm.Service server =
        ChildJvm.withOptions(List.of("-XX:ActiveProcessorCount=1", "-Xmx1g"))
            .processors(Processors.FIRST)
            .serve(ServedProcess.class, new ServedProcess.Spec(set.toString(), list.toString()))) {
      int[] ports = Arrays.stream(server.line().split(" ")).mapToInt(Integer::parseInt).toArray();
      measure(server, subjects(ports));
    }
  }

  private static String key(int i) {
    return String.format("https://example.org/page-%08d", i);
  }

  /** The host of the i-th entry of the list, as long as any other. */
  private static String host(int i) {
    return String.format("host-%08d.example", i);
  }

  private void publish(Path directory, Canonicaliser canonicaliser, IntFunction<String> canonical)
      throws Exception {
    Stream<String> all = IntStream.range(0, keys).mapToObj(canonical);
    try (WindowPublisher publisher =
        WindowPublisher.ofKeys(ServedProcess.SET, canonicaliser, all)) {
      publisher.writeTo(new SnapshotDirectory(directory));
    }
  }

  private List<Subject> subjects(int[] ports) {
    String present = "\"present\":true";
    String absent = "\"present\":false";
    String contains = "/v1/contains?key=";
    String match = "/v1/match?url=";
    IntFunction<String> key = ServeFigures::key;
    IntFunction<String> page = i -> "https://www." + host(i) + "/login?id=1";
    IntFunction<String> deepPage = i -> "https://a.b.c.d." + host(i) + "/1/2/3/4/login?id=1";
    List<String> empty = List.of("/empty");
    return List.of(
        new Subject("empty handler", ports[2], empty, ""),
        new Subject("contains, present", ports[0], targets(contains, key, 0), present),
        new Subject("contains, absent", ports[0], targets(contains, key, keys), absent),
        new Subject("match, 6 expressions, present", ports[1], targets(match, page, 0), present),
        new Subject("match, 6 expressions, absent", ports[1], targets(match, page, keys), absent),
        new Subject(
            "match, 30 expressions, absent", ports[1], targets(match, deepPage, keys), absent),
        new Subject("empty handler of the JDK", ports[3], empty, ""));
  }

  private List<String> targets(String path, IntFunction<String> key, int first) {
    int step = Math.max(1, keys / ASKED_KEYS);
    return IntStream.range(0, Math.min(keys, ASKED_KEYS))
        .mapToObj(i -> key.apply(first + i * step))
        .map(each -> path + URLEncoder.encode(each, StandardCharsets.UTF_8))
        .toList();
  }

  private record Round(double rate, double busy) {
    double micros() {
      return 1e6 * busy / rate;
    }
  }

  private void measure(ChildJvm.Service server, List<Subject> subjects) throws Exception {
    Map<Subject, List<Round>> all =
        Turns.measure(subjects, 1, rounds, (subject, round) -> round(server, subject));
    List<Round> empty = all.get(subjects.get(0));
    all.forEach(
        (subject, measured) -> {
          String name = subject.name();
          figures.title(name);
          double rate = Turns.median(measured, Round::rate);
          figures.plain("requests per second", rate, "");
          figures.plain("of the empty handler", rate / Turns.median(empty, Round::rate), "");
          double micros = Turns.median(measured, Round::micros);
          figures.plain("processor time of a request", micros, "µs");
          double ratio = Turns.median(empty, Round::micros) / micros;
          boolean ofKey = name.startsWith("contains");
          figures.atLeast(
              (ofKey ? name + ", " : "") + "the empty handler's by it",
              ratio,
              ofKey ? WANTED_RATIO : Double.NEGATIVE_INFINITY,
              "");
          figures.plain("server's core busy", 100 * Turns.median(measured, Round::busy), "%");
        });
  }

  private Round round(ChildJvm.Service server, Subject subject) throws Exception {
    try (HttpLoad load = load(subject)) {
      long cpuBefore = server.cpuNanos();
      long start = System.nanoTime();
      long replies = load.run(Duration.ofSeconds(seconds));
      double nanos = System.nanoTime() - start;
      return new Round(replies / nanos * 1e9, (server.cpuNanos() - cpuBefore) / nanos);
    }
  }

  /** Connects. Not measured, since it first requests each target once. */
  private HttpLoad load(Subject subject) throws IOException {
    InetSocketAddress address =
        new InetSocketAddress(InetAddress.getLoopbackAddress(), subject.port());
    return new HttpLoad(address, subject.targets(), connections, subject.expected());
  }

  /**
   * The measured process: the service over a set, the service over a list, an empty handler of the
   * same server, and an empty handler of the JDK's server. Prints their ports and ends when its
   * standard input does.
   */
  static final class ServedProcess {
    static final String SET = "bench";

    private ServedProcess() {}

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
                  Route.get(
                      "empty", "/empty", request -> Reply.of(200, "application/json", body))));
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
          List.of(
              SetSource.directory(directory, SET, KeyHash.fixed(), List.of(), Optional.empty())),
          new ServiceLog() {});
    }
  }
}
