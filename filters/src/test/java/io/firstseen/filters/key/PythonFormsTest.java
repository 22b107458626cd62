package io.firstseen.filters.key;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.filters.snapshot.PythonPackage;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The package in Python, which was written from the specification, gives keys the forms, URLs the
 * expressions and forms the hashes that we give them. With {@code -Dfirstseen.streams=DIR} on all
 * streams of a directory.
 */
// A read from a process is not interrupted.
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PythonFormsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int SCALE = Integer.getInteger("firstseen.scale", 1);
  private static final HexFormat HEX = HexFormat.of();
  private static final List<String> SPELLINGS =
      List.of(
          "%s",
          "http://%s/",
          "https://www.%s/signin/index.php?id=1&user=a%%40b&user=c",
          "HTTPS://a.b.c.d.%s.:8443/a/../b//c/%%2E/d/e?user=1&id=",
          "||%s^$doc");

  /** Our response to a request. */
  @FunctionalInterface
  private interface Answer {
    ObjectNode get() throws InvalidKeyException;
  }

  record Question(ObjectNode request, ObjectNode answer) {}

  @BeforeAll
  static void requirePython() throws InterruptedException {
    PythonPackage.require();
  }

  @Test
  void spellingsOfOddEntries() throws Exception {
    List<Question> questions = new ArrayList<>();
    try (InputStream entries = getClass().getResourceAsStream("phishing-urls.txt")) {
      for (String entry : new String(entries.readAllBytes(), UTF_8).lines().toList()) {
        for (String spelling : SPELLINGS) {
          questions.addAll(aboutUrl(spelling.formatted(entry).getBytes(UTF_8)));
        }
      }
    }
    assertThat(ask(questions)).isGreaterThan(500);
  }

  static List<Path> streams() throws IOException {
    return RealUrlsTest.streams();
  }

  /** Each key in one spelling, all spellings in turn. */
  @ParameterizedTest
  @MethodSource("streams")
  void keysOfRealStreams(Path stream) throws Exception {
    List<Question> questions = new ArrayList<>();
    List<String> keys = List.copyOf(RealUrlsTest.keysOf(stream));
    int step = System.getProperty("firstseen.streams") == null ? 9 / Math.min(9, SCALE) : 1;
    for (int at = 0; at < keys.size(); at += step) {
      String url = SPELLINGS.get(at % SPELLINGS.size()).formatted(keys.get(at));
      questions.addAll(aboutUrl(url.getBytes(UTF_8)));
    }
    assertThat(ask(questions)).isGreaterThan(keys.size() / step);
  }

  /** Of characters that Unicode 13 assigns, in hosts, paths and texts. */
  @Test
  void textsOfAllScripts() throws Exception {
    List<int[]> assigned = TextRuleTest.assignedInUnicode13();
    int[] characters =
        assigned.stream()
            .flatMapToInt(range -> IntStream.rangeClosed(range[0], range[range.length - 1]))
            .filter(c -> c < 0xE000 || (c > 0xF8FF && c < 0xF0000))
            .toArray();
    SplittableRandom random = new SplittableRandom(243);
    List<Question> questions = new ArrayList<>();
    int texts = 800 * SCALE;
    for (int i = 0; i < texts; i++) {
      StringBuilder text = new StringBuilder(i % 3 == 0 ? "a.example/" : "");
      for (int length = random.nextInt(1, 12); length > 0; length--) {
        // Half of them from the scripts in use.
        int bound = random.nextBoolean() ? characters.length : 6_000;
        text.appendCodePoint(characters[random.nextInt(bound)]);
      }
      byte[] key = text.append(i % 3 == 1 ? ".example" : "").toString().getBytes(UTF_8);
      questions.add(
          about(request("canonical", Canonicaliser.TEXT, key), form(Canonicaliser.TEXT, key)));
      questions.addAll(aboutUrl(key));
    }
    assertThat(ask(questions)).isGreaterThan(5 * texts / 4);
  }

  @Test
  void linesOfLists() throws Exception {
    List<String> pieces =
        List.of(
            ("example.com¦192.0.2.0¦2001:db8::¦[2001:db8::]¦10¦http://¦0.0.0.0 ¦||¦*.¦.¦*¦/*¦"
                    + "/¦/24¦/dir/¦a¦?¦=¦#¦ ¦^¦$all¦%2A¦:80¦\\¦@")
                .split("¦"));
    SplittableRandom random = new SplittableRandom(246);
    List<Question> questions = new ArrayList<>();
    int lines = 1_000 * SCALE;
    for (int i = 0; i < lines; i++) {
      StringBuilder line = new StringBuilder();
      for (int left = random.nextInt(1, 7); left > 0; left--) {
        line.append(pieces.get(random.nextInt(pieces.size())));
      }
      questions.addAll(aboutUrl(line.toString().getBytes(UTF_8)));
    }
    assertThat(ask(questions)).isGreaterThan(lines / 3);
  }

  @Test
  void hashesOfAllLengths() throws Exception {
    SplittableRandom random = new SplittableRandom(244);
    List<Question> questions = new ArrayList<>();
    for (int length = 0; length < 2_600; length += length < 300 ? 1 : 61) {
      byte[] form = new byte[length];
      random.nextBytes(form);
      long seed = random.nextLong();
      byte[] key = new byte[16];
      random.nextBytes(key);
      byte[] scope = new byte[length % 5 * 40];
      random.nextBytes(scope);
      for (KeyHash hash : List.of(KeyHash.xxh3(seed), KeyHash.sipHash24(key))) {
        boolean sip = hash.algorithm() == KeyHash.Algorithm.SIPHASH_2_4;
        ObjectNode request = JSON.createObjectNode().put("op", "hash");
        request.put("algorithm", hash.algorithm().id());
        request.put("hashKey", sip ? HEX.formatHex(key) : Long.toUnsignedString(seed));
        request.put("scopeHex", HEX.formatHex(scope)).put("formHex", HEX.formatHex(form));
        questions.add(
            about(
                request,
                () ->
                    JSON.createObjectNode()
                        .put("hash", HEX.toHexDigits(hash.hash(ScopedKey.join(scope, form))))));
      }
    }
    assertThat(ask(questions)).isEqualTo(questions.size());
  }

  private static final List<Canonicaliser> URL_RULES =
      List.of(
          Canonicaliser.of("url-2"),
          Canonicaliser.URL,
          Canonicaliser.of("url-expression-1"),
          Canonicaliser.URL_EXPRESSION);

  static List<Question> aboutUrl(byte[] url) {
    List<Question> questions = new ArrayList<>();
    for (Canonicaliser rule : URL_RULES) {
      questions.add(about(request("canonical", rule, url), form(rule, url)));
      if (rule.is(Canonicaliser.URL_EXPRESSION)) {
        questions.add(
            about(
                request("expressions", rule, url).put("url", new String(url, UTF_8)),
                () -> {
                  ObjectNode answer = JSON.createObjectNode();
                  UrlExpressions.of(url)
                      .forVersion(rule.version())
                      .asList()
                      .forEach(answer.putArray("expressions")::add);
                  return answer;
                }));
      }
    }
    return questions;
  }

  private static ObjectNode request(String operation, Canonicaliser canonicaliser, byte[] key) {
    ObjectNode request = JSON.createObjectNode().put("op", operation);
    return request
        .put("canonicaliser", ProtocolNames.of(canonicaliser))
        .put("keyHex", HEX.formatHex(key));
  }

  private static Answer form(Canonicaliser canonicaliser, byte[] key) {
    return () ->
        JSON.createObjectNode().put("form", HEX.formatHex(canonicaliser.canonicalise(key)));
  }

  private static Question about(ObjectNode request, Answer answer) {
    try {
      return new Question(request, answer.get());
    } catch (InvalidKeyException e) {
      return new Question(request, JSON.createObjectNode().put("refused", e.getMessage()));
    }
  }

  /** Queries the package and returns how many keys it does not reject. */
  static int ask(List<Question> questions) throws Exception {
    Process process =
        PythonPackage.process("-m", "firstseen.conformance")
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    try (Stream<String> answers = process.inputReader(UTF_8).lines()) {
      CompletableFuture<Void> asking = CompletableFuture.runAsync(() -> write(process, questions));
      List<String> lines = answers.toList();
      asking.get();
      assertThat(lines).hasSameSizeAs(questions);
      int accepted = 0;
      for (int i = 0; i < lines.size(); i++) {
        Question question = questions.get(i);
        JsonNode answer = JSON.readTree(lines.get(i));
        // The text of an error message is not part of a rule.
        boolean refused = question.answer().has("refused");
        if (refused ? !answer.has("refused") : !answer.equals(question.answer())) {
          assertThat(answer).as("%s", question.request()).isEqualTo(question.answer());
        }
        accepted += refused ? 0 : 1;
      }
      return accepted;
    } finally {
      process.destroyForcibly();
    }
  }

  private static void write(Process process, List<Question> questions) {
    try (BufferedWriter out = process.outputWriter(UTF_8)) {
      for (Question question : questions) {
        out.write(question.request().toString());
        out.write('\n');
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
