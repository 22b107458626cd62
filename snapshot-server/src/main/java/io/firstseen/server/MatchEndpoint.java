package io.firstseen.server;

import com.fasterxml.jackson.core.JsonGenerator;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.ScopedKey;
import io.firstseen.filters.key.UrlExpressions;
import io.firstseen.filters.snapshot.UrlAnswer;
import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.QueryString;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.Request;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** {@code /v1/match}: which entries of lists and allow sets list URLs. */
record MatchEndpoint(ServedSets sets, ServiceMetrics metrics, int maxUrls) {
  /** The number of URLs whose expressions are in memory at the same time. */
  private static final int PIECE = 512;

  /** The scope is hashed again with each expression of each URL. */
  private static final long MAX_SCOPE_BYTES = 4 << 20;

  Reply one(Request request) throws HttpFailure {
    QueryString query = request.queryRepeating("set", "url", "scope");
    byte[] url = query.required("url");
    QueriedLists lists = sets.lists(query.repeated());
    UrlExpressions expressions;
    UrlAnswer answer;
    try {
      expressions = UrlExpressions.of(url);
      answer = lists.askEach(query.bytes("scope"), List.of(expressions)).get(0);
    } catch (InvalidKeyException e) {
      lists.countInvalid(metrics);
      throw new HttpFailure(400, "the URL is invalid: " + e.getMessage());
    }
    lists.count(metrics, answer);
    return Reply.json(
        json -> {
          json.writeStringField("url", ContainsEndpoint.text(url));
          lists.writeAnswer(json, expressions, answer);
          lists.writeSets(json);
        });
  }

  /** Looks up many URLs in the same snapshots. */
  Reply batch(Request request) throws HttpFailure {
    QueryString query = request.queryRepeating("set", "scope");
    byte[] scope = query.bytes("scope");
    requireValid(scope);
    List<byte[]> urls = BatchKeys.read(request, maxUrls);
    requireBounded(scope, urls.size());
    QueriedLists lists = sets.lists(query.repeated());
    return Reply.json(
        json -> {
          lists.writeSets(json);
          json.writeArrayFieldStart("answers");
          for (int from = 0; from < urls.size(); from += PIECE) {
            int to = Math.min(urls.size(), from + PIECE);
            write(json, lists, scope, urls.subList(from, to));
          }
          json.writeEndArray();
        });
  }

  private static void requireBounded(byte[] scope, int urls) throws HttpFailure {
    long bytes = scope == null ? 0 : (long) scope.length * urls;
    if (bytes > MAX_SCOPE_BYTES) {
      throw new HttpFailure(
          413,
          "the bytes of the scope times the URLs must be at most %d, got %d times %d"
              .formatted(MAX_SCOPE_BYTES, scope.length, urls));
    }
  }

  private static void requireValid(byte[] scope) throws HttpFailure {
    try {
      ScopedKey.join(scope, new byte[0]);
    } catch (InvalidKeyException e) {
      throw new HttpFailure(400, e.getMessage());
    }
  }

  private void write(JsonGenerator json, QueriedLists lists, byte[] scope, List<byte[]> urls)
      throws IOException {
    List<UrlExpressions> valid = new ArrayList<>(urls.size());
    // Null where the URL is valid.
    List<String> errors = new ArrayList<>(urls.size());
    for (byte[] url : urls) {
      try {
        valid.add(UrlExpressions.of(url));
        errors.add(null);
      } catch (InvalidKeyException e) {
        errors.add("the URL is invalid: " + e.getMessage());
      }
    }
    Iterator<UrlExpressions> asked = valid.iterator();
    Iterator<UrlAnswer> answers = ask(lists, scope, valid).iterator();
    for (int i = 0; i < urls.size(); i++) {
      json.writeStartObject();
      json.writeStringField("url", ContainsEndpoint.text(urls.get(i)));
      if (errors.get(i) == null) {
        UrlAnswer answer = answers.next();
        lists.count(metrics, answer);
        lists.writeAnswer(json, asked.next(), answer);
      } else {
        lists.countInvalid(metrics);
        json.writeStringField("error", errors.get(i));
      }
      json.writeEndObject();
    }
  }

  private static List<UrlAnswer> ask(QueriedLists lists, byte[] scope, List<UrlExpressions> urls) {
    try {
      return lists.askEach(scope, urls);
    } catch (InvalidKeyException e) {
      throw new IllegalStateException("a scope that was checked is invalid", e);
    }
  }
}
