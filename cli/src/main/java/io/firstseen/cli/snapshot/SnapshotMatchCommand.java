package io.firstseen.cli.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Json;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.UrlExpressions;
import io.firstseen.filters.snapshot.NearTexts;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.filters.snapshot.UrlAnswer;
import io.firstseen.filters.snapshot.UrlList;
import io.firstseen.filters.snapshot.UrlLists;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints, per URL, the lists that contain it. */
@Command(
    name = "match",
    footer = {
      "  firstseen snapshot match phishing.snapshot http://example.org/a",
      "  firstseen snapshot match lists --allow allowed.snapshot - < urls.txt",
      "  firstseen snapshot match texts.snapshot 'claim your prize'"
    },
    description = {
      "Prints, per URL, whether a list contains it: URL TAB present|absent, followed by TAB and"
          + " the most specific matching entry if present; or URL TAB invalid TAB reason, with exit "
          + "code 4.",
      "A list is a snapshot with the canonicaliser url-expression. Entries are hosts with their"
          + " subdomains, paths such as host/path/ with everything under them, and full URLs.",
      "With --list or --allow, each entry is followed by TAB and the name of its set, or its "
          + "path if names repeat. Entries of allow sets replace the others.",
      "If F is a set of texts (--near), prints, per text, whether a live text resembles it: "
          + "TEXT TAB present|absent, followed by TAB and the number of equal bands if one does."
    })
final class SnapshotMatchCommand extends QueryVerb {

  @Parameters(
      index = "1..*",
      paramLabel = "URL",
      description = "URLs to look up; - or no URL reads them from standard input, one per line.")
  private List<String> urls = List.of();

  @Option(
      names = "--list",
      paramLabel = "F",
      description = "Additional list to look up, in the form of F; may be repeated.")
  private List<Path> more = List.of();

  @Option(
      names = "--allow",
      paramLabel = "F",
      description =
          "Allow set, in the form of F; may be repeated. A URL that it lists is absent, "
              + "whatever the other lists contain.")
  private List<Path> allow = List.of();

  private @Nullable UrlLists lists;
  private @Nullable NearTexts texts;

  @Override
  public Integer call() throws IOException {
    List<TrustedKey> keys = trusted.keys();
    OpenedSnapshots opened = snapshot.open(keys);
    if (opened.parameters().near() != null) {
      if (!more.isEmpty() || !allow.isEmpty()) {
        throw new UserErrorException(
            "--list and --allow need lists of URLs; " + snapshot.path + " contains texts");
      }
      texts = opened.nearTexts(hashKey.keyHash());
    } else {
      lists = open(opened, keys, hashKey.keyHash());
    }
    return answerAll(urls);
  }

  @Override
  void answer(List<byte[]> queries) {
    if (texts == null) {
      answerUrls(queries);
    } else {
      answerTexts(queries);
    }
  }

  private void answerTexts(List<byte[]> queries) {
    for (byte[] query : queries) {
      String text = field(new String(query, UTF_8));
      ObjectNode object = Json.object().put("text", text);
      try {
        int equal = texts.resembles(scope(), query);
        String word = equal > 0 ? "present" : "absent";
        object.put("answer", word).put("equalBands", equal).put("bands", texts.rule().bands());
        print(object, text + "\t" + word + (equal > 0 ? "\t" + equal : ""));
      } catch (InvalidKeyException e) {
        printInvalid(object, text, e.getMessage());
      }
    }
  }

  private UrlLists open(OpenedSnapshots first, List<TrustedKey> keys, KeyHash keyHash)
      throws IOException {
    List<Path> paths = new ArrayList<>(List.of(snapshot.path));
    paths.addAll(more);
    paths.addAll(allow);
    Set<Path> given = new HashSet<>();
    for (Path path : paths) {
      if (!given.add(path.normalize())) {
        throw new UserErrorException(path + " must be given once");
      }
    }
    List<UrlList> opened = new ArrayList<>(List.of(first.urlList(keyHash)));
    for (Path path : paths.subList(1, paths.size())) {
      SnapshotArgument other = new SnapshotArgument();
      other.path = path;
      opened.add(other.open(keys).urlList(keyHash));
    }
    if (opened.stream().map(UrlList::name).distinct().count() < opened.size()) {
      for (int i = 0; i < opened.size(); i++) {
        opened.set(i, opened.get(i).named(paths.get(i).toString()));
      }
    }
    int allowFrom = 1 + more.size();
    return new UrlLists(opened.subList(0, allowFrom), opened.subList(allowFrom, opened.size()));
  }

  private void answerUrls(List<byte[]> queries) {
    List<String> urls = new ArrayList<>();
    List<UrlExpressions> asked = new ArrayList<>();
    for (byte[] query : queries) {
      String url = new String(query, UTF_8);
      try {
        asked.add(UrlExpressions.of(query));
        urls.add(url);
      } catch (InvalidKeyException e) {
        ask(urls, asked);
        printInvalid(Json.object().put("url", url), field(url), e.getMessage());
      }
    }
    ask(urls, asked);
  }

  /** Prints the results of URLs, and removes them from the lists. */
  private void ask(List<String> urls, List<UrlExpressions> asked) {
    try {
      List<UrlAnswer> answers = lists.askEach(scope(), asked);
      for (int i = 0; i < answers.size(); i++) {
        print(urls.get(i), answers.get(i), asked.get(i));
      }
    } catch (InvalidKeyException e) {
      throw new UserErrorException("--scope: " + e.getMessage());
    }
    urls.clear();
    asked.clear();
  }

  private void print(String url, UrlAnswer answer, UrlExpressions expressions) {
    String word = answer.isPresent() ? "present" : "absent";
    // A URL ignores tabs and line breaks; printed, they would add fields and lines.
    StringBuilder line = new StringBuilder(field(url)).append('\t').append(word);
    for (UrlAnswer.Match match : deciding(answer)) {
      line.append('\t').append(match.entry());
      if (lists.names().size() > 1) {
        line.append('\t').append(match.list());
      }
    }
    ObjectNode object = Json.object().put("url", url).put("answer", word);
    addTo(object.putArray("matches"), answer.matches());
    addTo(object.putArray("allowedBy"), answer.allowedBy());
    object.put("expressions", expressions.count());
    object.put("falsePositiveRate", lists.falsePositiveRate(expressions));
    print(object, line.toString());
  }

  /** The entries that make a URL present, or absent although a list contains it. */
  private static List<UrlAnswer.Match> deciding(UrlAnswer answer) {
    return answer.isPresent() || answer.matches().isEmpty() ? answer.matches() : answer.allowedBy();
  }

  private static void addTo(ArrayNode array, List<UrlAnswer.Match> matches) {
    for (UrlAnswer.Match match : matches) {
      array.addObject().put("set", match.list()).put("entry", match.entry());
    }
  }
}
