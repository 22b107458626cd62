package io.firstseen.jobs;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.zip.GZIPInputStream;

/** What a dedup without errors does to events in TSV. */
final class ExactModel {
  final List<String> accepted = new ArrayList<>();
  final List<String> duplicates = new ArrayList<>();
  final Set<String> live = new HashSet<>();

  static ExactModel of(List<String> lines) {
    ExactModel model = new ExactModel();
    for (String line : lines) {
      String[] fields = line.split("\t", 3);
      boolean changes =
          fields[1].equals("add") ? model.live.add(fields[2]) : model.live.remove(fields[2]);
      (changes ? model.accepted : model.duplicates).add(line);
    }
    return model;
  }

  static List<String> lines(Path tsvGz) throws IOException {
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(new GZIPInputStream(Files.newInputStream(tsvGz)), UTF_8))) {
      return reader.lines().toList();
    }
  }
}
