package io.firstseen.server;

import com.fasterxml.jackson.core.JsonGenerator;
import io.firstseen.consumer.ClientStatus;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.UrlExpressions;
import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SnapshotSet;
import io.firstseen.filters.snapshot.UrlAnswer;
import io.firstseen.filters.snapshot.UrlList;
import io.firstseen.filters.snapshot.UrlLists;
import io.firstseen.server.ServiceMetrics.UrlCount;
import io.firstseen.server.http.HttpFailure;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The lists and allow sets that are queried for one request with URLs, each with one snapshot. */
final class QueriedLists {
  private final List<Asked> lists;
  private final List<Asked> allow;
  private final UrlLists asked;

  record Asked(ServedSet served, Manifest manifest, UrlList list) {

    private static Asked of(ServedSet served, ClientStatus status) throws HttpFailure {
      SnapshotSet set = served.answering(status);
      return new Asked(served, set.manifest(), served.list(set));
    }

    /**
     * Returns an allow set.
     *
     * @throws HttpFailure with 503 if it has no usable snapshot
     */
    static Asked allow(ServedSet served) throws HttpFailure {
      return of(served, served.status());
    }

    /**
     * Returns a list that a request names.
     *
     * @throws HttpFailure with 400 if it is not a list, with 503 if it has no usable snapshot
     */
    static Asked list(ServedSet served) throws HttpFailure {
      if (served.isAllowSet()) {
        throw new HttpFailure(
            400,
            "set must name lists, '%s' is an allow set, which is always checked"
                .formatted(served.name()));
      }
      ClientStatus status = served.status();
      Optional<String> reason = status.snapshot().flatMap(served::whyNoList);
      if (reason.isPresent()) {
        throw new HttpFailure(400, reason.get());
      }
      return of(served, status);
    }

    /**
     * Returns a set that is not an allow set; empty if it is not a list.
     *
     * @throws HttpFailure with 503 if it has no usable snapshot, or no snapshot yet that determines
     *     whether it is a list
     */
    static Optional<Asked> ifList(ServedSet served) throws HttpFailure {
      ClientStatus status = served.status();
      return status.snapshot().flatMap(served::whyNoList).isPresent()
          ? Optional.empty()
          : Optional.of(of(served, status));
    }
  }

  QueriedLists(List<Asked> lists, List<Asked> allow) {
    this.lists = List.copyOf(lists);
    this.allow = List.copyOf(allow);
    this.asked =
        new UrlLists(
            lists.stream().map(Asked::list).toList(), allow.stream().map(Asked::list).toList());
  }

  List<UrlAnswer> askEach(byte[] scope, List<UrlExpressions> urls) throws InvalidKeyException {
    return asked.askEach(scope, urls);
  }

  /** Writes the queried snapshots as {@code sets}. */
  void writeSets(JsonGenerator json) throws IOException {
    json.writeArrayFieldStart("sets");
    for (Asked each : lists) {
      write(json, each, false);
    }
    for (Asked each : allow) {
      write(json, each, true);
    }
    json.writeEndArray();
  }

  private static void write(JsonGenerator json, Asked asked, boolean allow) throws IOException {
    json.writeStartObject();
    ManifestJson.writeSnapshot(json, asked.manifest());
    json.writeBooleanField("allow", allow);
    json.writeEndObject();
  }

  void writeAnswer(JsonGenerator json, UrlExpressions url, UrlAnswer answer) throws IOException {
    json.writeBooleanField("present", answer.isPresent());
    write(json, "matches", answer.matches());
    write(json, "allowedBy", answer.allowedBy());
    json.writeNumberField("expressions", url.count());
    json.writeNumberField("falsePositiveRate", asked.falsePositiveRate(url));
  }

  private static void write(JsonGenerator json, String name, List<UrlAnswer.Match> matches)
      throws IOException {
    json.writeArrayFieldStart(name);
    for (UrlAnswer.Match each : matches) {
      json.writeStartObject();
      json.writeStringField("set", each.list());
      json.writeStringField("entry", each.entry());
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  void count(ServiceMetrics metrics, UrlAnswer answer) {
    UrlCount ofMatch = answer.isPresent() ? UrlCount.PRESENT : UrlCount.ALLOWED;
    for (Asked each : lists) {
      metrics.count(each.served(), has(answer.matches(), each) ? ofMatch : UrlCount.ABSENT);
    }
    for (Asked each : allow) {
      metrics.count(
          each.served(), has(answer.allowedBy(), each) ? UrlCount.PRESENT : UrlCount.ABSENT);
    }
  }

  private static boolean has(List<UrlAnswer.Match> matches, Asked asked) {
    return matches.stream().anyMatch(match -> match.list().equals(asked.served().name()));
  }

  /** Counts a URL without a canonical form for each set. */
  void countInvalid(ServiceMetrics metrics) {
    Stream.concat(lists.stream(), allow.stream())
        .forEach(each -> metrics.count(each.served(), UrlCount.INVALID));
  }
}
