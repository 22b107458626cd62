package io.firstseen.cli.serve;

import static org.assertj.core.api.Assertions.assertThat;

import io.firstseen.cli.Invocation;
import io.firstseen.cli.shared.ExitCode;
import io.firstseen.consumer.internal.DirectorySource;
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.Shards;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SetParameters;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.filters.snapshot.SnapshotDirectory;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.fixtures.SetPublisher;
import io.firstseen.server.http.Access;
import io.firstseen.server.http.AllowedHosts;
import io.firstseen.server.http.BearerTokens;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Wrong arguments; {@link ServeProcessTest} tests the rest. */
class ServeCommandTest {

  static Stream<Arguments> mistakes() {
    return Stream.of(
        Arguments.of("", "Missing required argument"),
        Arguments.of("--directory D --bootstrap-servers a:1", "are mutually exclusive"),
        Arguments.of(
            "--directory D --set a --set b",
            "--set must be given once for each --directory, in their order, or not at all; got 2"
                + " for 1"),
        Arguments.of(
            "--directory D --directory E",
            "each --directory must have a different set, but D and E have 'firstseen'; set their "
                + "names with --set"),
        Arguments.of("--directory D --directory E --set a --set a", "D and E have 'a'"),
        Arguments.of(
            "--directory D --set a --directory E --set b --allow c",
            "--allow must be the set of a --directory, a or b; got 'c'"),
        Arguments.of("--directory D --allow a/b", "must be 1 to 100 letters"),
        Arguments.of("--directory D --max-body 0", "--max-body must be in [1, 1g], got 0"),
        Arguments.of(
            "--directory D --max-body 2m --max-bodies 1m",
            "--max-bodies: maxBodiesBytes must be at least maxBodyBytes, 2097152, got 1048576"),
        Arguments.of(
            "--directory D --max-connections-per-peer 0",
            "'--max-connections-per-peer': must be a whole number in [1, 1000000], got '0'"),
        Arguments.of(
            "--directory D --health-connections=-1",
            "'--health-connections': must be a whole number in [0, 1000000], got '-1'"),
        Arguments.of(
            "--directory D --allow-host a.example:80",
            "--allow-host must be the name of a host without a port, such as filter.example.org,"
                + " or *, got 'a.example:80'"),
        Arguments.of("--directory D --port 65536", "65535"),
        Arguments.of(
            "--directory D --token-file none",
            "cannot read --token-file none: there is no such file or directory"),
        Arguments.of(
            "--directory D --token-file pom.xml",
            "--token-file: pom.xml: a token must be of A-Z a-z 0-9 . _ ~ + / - with = at its end"
                + " only, the token in line 1 is not"),
        Arguments.of(
            "--directory D --tls-key K",
            "--tls-certificate and --tls-key must be given together, got --tls-key alone"),
        Arguments.of(
            "--directory D --tls-key K --tls-certificate none",
            "cannot read none: there is no such file or directory"),
        Arguments.of(
            "--directory D --tls-key K --tls-certificate pom.xml",
            "pom.xml must have certificates in PEM"),
        Arguments.of("--directory pom.xml", "--directory pom.xml is a file"),
        Arguments.of("--directory D --set a/b", "must be 1 to 100 letters"),
        Arguments.of("--directory D --host no..such --port 0", "cannot listen on no..such:0"),
        Arguments.of("--directory D --hash-key-file none", "none does not exist"),
        Arguments.of("--directory D --public-key none", "--public-key: none does not exist"),
        Arguments.of("--directory D --cache-dir C", "are for --bootstrap-servers"),
        Arguments.of("--directory D --window 1h", "--window is for --bootstrap-servers"),
        Arguments.of("--bootstrap-servers a:1 --idle-timeout 1m", "--idle-timeout needs --window"),
        Arguments.of("--bootstrap-servers nonsense", "must be host:port separated by commas"),
        Arguments.of(
            "--bootstrap-servers a:1 --kafka-property group.id=x", "is set by the client"));
  }

  @ParameterizedTest
  @MethodSource("mistakes")
  void aMistakeIsOneLine(String words, String part) {
    Invocation ended = Invocation.of(("serve " + words).strip().split(" "));
    assertThat(ended.status()).isEqualTo(ExitCode.USAGE);
    assertThat(ended.out()).isEmpty();
    assertThat(ended.err())
        .singleElement()
        .asString()
        .startsWith("firstseen serve: ")
        .contains(part);
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "none",
      delimiter = '|',
      textBlock =
          """
          127.0.0.1 | false | none
          ::1       | false | none
          0.0.0.0   | true  | other machines can reach 0.0.0.0; the traffic is unencrypted, including tokens and keys: set --tls
          192.0.2.1 | false | other machines can reach 192.0.2.1; anyone can query it: set --token-file; the traffic is unencrypted,
          """)
  void whatIsMissingOnAnAddressThatOthersReachIsAWarning(
      String host, boolean hasToken, String start) {
    BearerTokens tokens = hasToken ? BearerTokens.parse("0123456789abcdef") : BearerTokens.none();
    Optional<String> warning =
        ServeCommand.warning(
            new InetSocketAddress(host, 0), new Access(AllowedHosts.any(), tokens, null));
    if (start == null) {
      assertThat(warning).isEmpty();
    } else {
      assertThat(warning).hasValueSatisfying(text -> assertThat(text).startsWith(start));
    }
  }

  @Test
  void aPortThatIsTakenIsOneLine(@TempDir Path directory) throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());
      Invocation ended =
          Invocation.of("serve", "--directory", directory.toString(), "--port", port);
      assertThat(ended.status()).isEqualTo(ExitCode.USAGE);
      assertThat(ended.err())
          .containsExactly(
              "firstseen serve: cannot listen on 127.0.0.1:"
                  + port
                  + ": the port is in use: choose another one with --port");
    }
  }

  @Test
  void aDirectoryServesTheSetOfItsNewestManifestIfATrustedKeySignedIt(@TempDir Path directory)
      throws Exception {
    assertThat(setIn(directory, List.of())).isEqualTo("firstseen");
    SetParameters parameters =
        SetParameters.of(KeyHash.fixed(), Canonicaliser.NONE, new Shards(1), 0.001);
    Manifest manifest = new SetPublisher("phishing", parameters).publish(1, 0, 1).manifest();
    SigningKey key = SigningKey.generate();
    List<TrustedKey> trusted = List.of(key.publicKey());
    SnapshotDirectory snapshots = new SnapshotDirectory(directory);
    snapshots.writeManifest(manifest);
    assertThat(setIn(directory, List.of())).isEqualTo("phishing");
    assertThat(setIn(directory, trusted)).isEqualTo("firstseen");
    snapshots.writeManifest(SigningKey.generate().sign(manifest));
    assertThat(setIn(directory, trusted)).isEqualTo("firstseen");
    snapshots.writeManifest(key.sign(manifest));
    assertThat(setIn(directory, trusted)).isEqualTo("phishing");
    // An incomplete manifest and an unsigned manifest.
    Files.write(snapshots.manifestFile(3), Arrays.copyOf(manifest.toBytes(), 20));
    assertThat(setIn(directory, List.of())).isEqualTo("phishing");
    snapshots.writeManifest(new SetPublisher("spam", parameters).publish(2, 0, 1).manifest());
    assertThat(setIn(directory, List.of())).isEqualTo("spam");
    assertThat(setIn(directory, trusted)).isEqualTo("phishing");
  }

  private static String setIn(Path directory, List<TrustedKey> keys) {
    return ServeCommand.setIn(new DirectorySource(directory, ""), keys);
  }
}
