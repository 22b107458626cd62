package io.firstseen.filters.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/** Holds this reader, the writer and {@code conformance/} together. */
class ConformanceTest {
  private static final Path FOLDER = Path.of("../conformance").toAbsolutePath().normalize();
  private static final Path FILES = FOLDER.resolve("files");
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<String> PATHS = List.of("file", "directory", "from", "to");

  private record Case(String name, ObjectNode request, JsonNode answer) {}

  private static List<Case> cases() throws IOException {
    List<Case> cases = new ArrayList<>();
    for (Path file : jsonFiles("vectors")) {
      JsonNode vectors = JSON.readTree(file.toFile());
      for (JsonNode vector : vectors.required("keys")) {
        ObjectNode request = JSON.createObjectNode().put("op", "canonical");
        request.set("canonicaliser", vectors.required("canonicaliser"));
        for (String name : List.of("strip", "key", "keyHex")) {
          if (vector.has(name)) {
            request.set(name, vector.get(name));
          }
        }
        cases.add(
            new Case(
                named(file, vector) + ": " + request, request, answer(vector.required("form"))));
      }
      for (JsonNode vector : vectors.path("urls")) {
        ObjectNode request = JSON.createObjectNode().put("op", "expressions");
        request.set("url", vector.required("url"));
        request.set("canonicaliser", vectors.required("canonicaliser"));
        cases.add(
            new Case(
                file.getFileName() + ": the expressions of " + vector.get("url"),
                request,
                vector.required("expressions").isNull()
                    ? JSON.createObjectNode().put("refused", true)
                    : JSON.createObjectNode().set("expressions", vector.get("expressions"))));
      }
    }
    for (Path file : jsonFiles("cases")) {
      for (JsonNode each : JSON.readTree(file.toFile()).required("cases")) {
        ObjectNode request = each.required("request").deepCopy();
        for (String path : PATHS) {
          if (request.has(path)) {
            request.put(path, FOLDER.resolve(request.get(path).textValue()).toString());
          }
        }
        cases.add(new Case(named(file, each), request, each.required("answer")));
      }
    }
    return cases;
  }

  private static List<Path> jsonFiles(String folder) throws IOException {
    try (Stream<Path> files = Files.list(FOLDER.resolve(folder))) {
      return files.filter(file -> file.toString().endsWith(".json")).sorted().toList();
    }
  }

  private static String named(Path file, JsonNode each) {
    return file.getFileName() + ": " + each.required("about").textValue();
  }

  private static ObjectNode answer(JsonNode form) {
    ObjectNode answer = JSON.createObjectNode();
    return form.isNull()
        ? answer.put("refused", true)
        : answer.put("form", HexFormat.of().formatHex(form.textValue().getBytes(UTF_8)));
  }

  @TestFactory
  Stream<DynamicTest> answersEveryCase() throws IOException {
    return cases().stream()
        .map(each -> DynamicTest.dynamicTest(each.name(), () -> assertAnswered(each)));
  }

  private static void assertAnswered(Case each) throws IOException {
    ObjectNode answer = ConformanceReader.answer(each.request());
    if (each.answer().has("refused")) {
      assertThat(answer.path("refused").isTextual()).as("%s", answer).isTrue();
      return;
    }
    for (Map.Entry<String, JsonNode> field : each.answer().properties()) {
      assertThat(plain(answer.path(field.getKey())))
          .as("%s", field.getKey())
          .isEqualTo(plain(field.getValue()));
    }
  }

  /** Integers count as decimals, whether they are numbers or strings. */
  private static String plain(JsonNode node) {
    return node.isIntegralNumber() ? '"' + node.asText() + '"' : node.toString();
  }

  @Test
  void theWriterGivesTheFiles() throws IOException {
    if (Boolean.getBoolean("firstseen.update")) {
      ConformanceFiles.write(FILES);
    }
    SortedMap<String, String> written = new TreeMap<>();
    ConformanceFiles.all().forEach((path, bytes) -> written.put(path, hex(bytes)));
    SortedMap<String, String> found = new TreeMap<>();
    try (Stream<Path> files = Files.walk(FILES)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        found.put(
            FILES.relativize(file).toString().replace('\\', '/'), hex(Files.readAllBytes(file)));
      }
    }
    assertThat(found).isEqualTo(written);
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  /** A damaged file that no case names would not be tested. */
  @Test
  void everyFileIsAskedFor() throws IOException {
    SortedSet<Path> asked = new TreeSet<>();
    for (Case each : cases()) {
      for (String path : PATHS) {
        if (each.request().has(path)) {
          asked.add(Path.of(each.request().get(path).textValue()));
        }
      }
    }
    assertThat(asked).allMatch(Files::exists);
    for (String file : ConformanceFiles.all().keySet()) {
      Path path = FILES.resolve(file);
      assertThat(asked.stream().anyMatch(path::startsWith)).as(file).isTrue();
    }
  }
}
