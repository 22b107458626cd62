package io.firstseen.benchmarks.near;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/** Changes texts as senders of spam do, so that a filter for equal texts does not find them. */
enum Senders {
  /** Inserts a name, an amount and a link. */
  INSERTIONS {
    @Override
    String change(String text, double share, Corpus corpus, Random random) {
      List<String> words = words(text);
      words.add(0, "Dear " + pick(NAMES, random) + ",");
      words.add(random.nextInt(words.size() + 1), "$" + (1 + random.nextInt(9_999)));
      words.add("http://" + Integer.toString(random.nextInt(1 << 30), 36) + ".example/");
      return String.join(" ", words);
    }
  },
  /** Replaces a share of the words by other words. */
  REPLACED_WORDS {
    @Override
    String change(String text, double share, Corpus corpus, Random random) {
      List<String> words = words(text);
      words.replaceAll(word -> random.nextDouble() < share ? corpus.word(random) : word);
      return String.join(" ", words);
    }
  },
  /** Moves the end of the text to its beginning. */
  REORDERED {
    @Override
    String change(String text, double share, Corpus corpus, Random random) {
      List<String> words = words(text);
      Collections.rotate(words, random.nextInt(words.size()));
      return String.join(" ", words);
    }
  },
  /** Separates the letters of a share of the words by spaces or full stops. */
  SPACED_LETTERS {
    @Override
    String change(String text, double share, Corpus corpus, Random random) {
      List<String> words = words(text);
      words.replaceAll(
          word ->
              word.length() > 3 && random.nextDouble() < 4 * share
                  ? String.join(random.nextBoolean() ? " " : ".", word.split(""))
                  : word);
      return String.join(" ", words);
    }
  },
  /** Replaces a share of the letters by letters of other scripts that look alike. */
  LOOK_ALIKES {
    @Override
    String change(String text, double share, Corpus corpus, Random random) {
      StringBuilder changed = new StringBuilder();
      for (int i = 0; i < text.length(); i++) {
        int at = LATIN.indexOf(text.charAt(i));
        changed.append(
            at >= 0 && random.nextDouble() < 2 * share ? OTHER_SCRIPTS.charAt(at) : text.charAt(i));
      }
      return changed.toString();
    }
  };

  private static final List<String> NAMES =
      List.of("Anna", "Robert", "Mei", "Fatima", "John Smith", "Olga", "José", "customer");
  private static final String LATIN = "aceiopsxyABCEHKMOPTX";
  private static final String OTHER_SCRIPTS = "асеіорѕхуАВСЕНКМОРТХ";

  /**
   * Returns a changed copy of a text.
   *
   * @param share the share of the words that change, where the kind of change has one
   */
  abstract String change(String text, double share, Corpus corpus, Random random);

  private static List<String> words(String text) {
    return new ArrayList<>(List.of(text.split(" ", -1)));
  }

  private static String pick(List<String> of, Random random) {
    return of.get(random.nextInt(of.size()));
  }
}
