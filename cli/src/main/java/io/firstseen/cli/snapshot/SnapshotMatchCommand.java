package io.firstseen.cli.snapshot;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.firstseen.cli.shared.Json;
import io.firstseen.cli.shared.TrustedKeyOptions;
import io.firstseen.cli.shared.Verb;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.KeyHash;
import io.firstseen.filters.key.UrlExpressions;
import io.firstseen.filters.snapshot.TrustedKey;
import io.firstseen.filters.snapshot.UrlAnswer;
import io.firstseen.filters.snapshot.UrlList;
import io.firstseen.filters.snapshot.UrlLists;
import io.firstseen.jobs.options.HashKeyOptions;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Tells for every URL which lists have it. */
@Command(
    name = "match",
    description = {
      "Answers for every URL, in a line, whether a list has it: URL TAB present|absent, and for one"
          + " that is present TAB the most specific entry that lists it.",
      "A URL that cannot be evaluated gets: URL TAB invalid TAB reason. The exit code is then 4.",
      "A list is a snapshot with the canonicaliser url-expression. An entry lists what it names: a"
          + " host itself and all below it, host/path/ what is under that path, a full URL itself.",
      "With --list or --allow, each entry is followed by TAB and its set's name: first those of the"
          + " lists that have the URL, or, if an --allow set has it, too, those of the allow sets."
          + " If two sets have the same name, all are named by their paths."
    })
final class SnapshotMatchCommand extends Verb {

  @Mixin private SnapshotArgument snapshot;

  @Parameters(
      index = "1..*",
      paramLabel = "URL",
      description = "URLs; - or no URL means that they are read from standard input, one per line.")
  private List<String> urls = List.of();

  @Option(
      names = "--list",
      paramLabel = "F",
      description = "Another list to ask, as F; may be repeated.")
  private List<Path> more = List.of();

  @Option(
      names = "--allow",
      paramLabel = "F",
      description =
          "A list of what is allowed, as F; may be repeated. A URL that it lists is absent, even"
              + " if its entry is less specific than those of the other lists.")
  private List<Path> allow = List.of();

  @Option(names = "--scope", paramLabel = "SCOPE", description = "The scope of the entries.")
  private String scope;

  @Option(names = "--json", description = "Print one JSON object per URL.")
  private boolean json;

  @Mixin private HashKeyOptions hashKey;

  @Mixin private TrustedKeyOptions trusted;

  private UrlLists lists;
  private byte @Nullable [] scopeBytes;

  @Override
  public Integer call() throws IOException {
    lists = open(hashKey.keyHash());
    scopeBytes = scope == null ? null : scope.getBytes(UTF_8);
    return Questions.answer(urls, commandLine(), this::answer);
  }

  private UrlLists open(KeyHash keyHash) throws IOException {
    List<Path> paths =
        Stream.of(Stream.of(snapshot.path()), more.stream(), allow.stream())
            .flatMap(each -> each)
            .toList();
    Set<Path> given = new HashSet<>();
    for (Path path : paths) {
      if (!given.add(path.normalize())) {
        throw new UserErrorException(path + " must be given once");
      }
    }
    List<UrlList> opened = new ArrayList<>();
    List<TrustedKey> keys = trusted.keys();
    snapshot.requireSigned(keys);
    opened.add(snapshot.open().urlList(keyHash));
    for (Path path : paths.subList(1, paths.size())) {
      SnapshotArgument other = new SnapshotArgument(path);
      other.requireSigned(keys);
      opened.add(other.open().urlList(keyHash));
    }
    if (opened.stream().map(UrlList::name).distinct().count() < opened.size()) {
      for (int i = 0; i < opened.size(); i++) {
        opened.set(i, opened.get(i).named(paths.get(i).toString()));
      }
    }
    int allowFrom = 1 + more.size();
    return new UrlLists(opened.subList(0, allowFrom), opened.subList(allowFrom, opened.size()));
  }

  private int answer(List<byte[]> questions) {
    List<UrlExpressions> asked = new ArrayList<>(questions.size());
    // For each question why it cannot be asked, or null.
    List<@Nullable String> reasons = new ArrayList<>(questions.size());
    for (byte[] url : questions) {
      try {
        asked.add(UrlExpressions.of(url));
        reasons.add(null);
      } catch (InvalidKeyException e) {
        reasons.add(e.getMessage());
      }
    }
    List<UrlAnswer> answers = ask(asked);
    int next = 0;
    for (int i = 0; i < questions.size(); i++) {
      String url = new String(questions.get(i), UTF_8);
      if (reasons.get(i) != null) {
        printInvalid(url, reasons.get(i));
      } else {
        print(url, answers.get(next), asked.get(next));
        next++;
      }
    }
    return questions.size() - next;
  }

  private void printInvalid(String url, String reason) {
    print(
        json,
        Json.object().put("url", url).put("answer", "invalid").put("reason", reason),
        Questions.field(url) + "\tinvalid\t" + Questions.field(reason));
  }

  private List<UrlAnswer> ask(List<UrlExpressions> asked) {
    try {
      return lists.askEach(scopeBytes, asked);
    } catch (InvalidKeyException e) {
      throw new UserErrorException("--scope: " + e.getMessage());
    }
  }

  private void print(String url, UrlAnswer answer, UrlExpressions expressions) {
    String word = answer.isPresent() ? "present" : "absent";
    if (json) {
      ObjectNode object = Json.object();
      object.put("url", url);
      object.put("answer", word);
      addTo(object.putArray("matches"), answer.matches());
      addTo(object.putArray("allowedBy"), answer.allowedBy());
      object.put("expressions", expressions.count());
      object.put("falsePositiveRate", lists.falsePositiveRate(expressions));
      out().println(Json.line(object));
      return;
    }
    // A URL ignores tabs and ends of lines; printed, they would make fields and lines of its own.
    StringBuilder line = new StringBuilder(Questions.field(url)).append('\t').append(word);
    for (UrlAnswer.Match match : deciding(answer)) {
      line.append('\t').append(match.entry());
      if (lists.names().size() > 1) {
        line.append('\t').append(match.list());
      }
    }
    out().println(line);
  }

  /** What makes a URL present, or absent although a list has it. */
  private static List<UrlAnswer.Match> deciding(UrlAnswer answer) {
    return answer.isPresent() || answer.matches().isEmpty() ? answer.matches() : answer.allowedBy();
  }

  private static void addTo(ArrayNode array, List<UrlAnswer.Match> matches) {
    for (UrlAnswer.Match match : matches) {
      array.addObject().put("set", match.list()).put("entry", match.entry());
    }
  }
}
