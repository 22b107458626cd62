package io.firstseen.server;

import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.UrlExpressions;
import io.firstseen.filters.snapshot.UrlAnswer;
import io.firstseen.server.http.Endpoint;
import io.firstseen.server.http.HttpFailure;
import io.firstseen.server.http.QueryString;
import io.firstseen.server.http.Reply;
import io.firstseen.server.http.Request;
import java.util.List;

/** {@code GET /v1/match}: which entries of lists and allow sets list one URL. */
final class MatchEndpoint implements Endpoint {
  private final ServedSets sets;
  private final ServiceMetrics metrics;

  MatchEndpoint(ServedSets sets, ServiceMetrics metrics) {
    this.sets = sets;
    this.metrics = metrics;
  }

  @Override
  public Reply answer(Request request) throws HttpFailure {
    QueryString query = request.queryRepeating("set", "url", "scope");
    byte[] url = query.bytes("url");
    if (url == null) {
      throw new HttpFailure(400, "the parameter url must be given");
    }
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
            200,
            json -> {
              json.writeStartObject();
              json.writeStringField("url", ContainsEndpoint.text(url));
              lists.writeAnswer(json, expressions, answer);
              lists.writeSets(json);
              json.writeEndObject();
            })
        .header("cache-control", "no-store");
  }
}
