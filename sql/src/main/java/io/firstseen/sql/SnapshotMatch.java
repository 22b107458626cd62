package io.firstseen.sql;

import io.firstseen.consumer.SnapshotClient;
import io.firstseen.filters.key.InvalidKeyException;
import io.firstseen.filters.key.UrlExpressions;
import io.firstseen.filters.snapshot.UrlAnswer;
import io.firstseen.filters.snapshot.UrlList;
import io.firstseen.filters.snapshot.UrlLists;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.apache.flink.metrics.Counter;
import org.apache.flink.table.annotation.DataTypeHint;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.functions.FunctionContext;
import org.apache.flink.table.types.inference.CallContext;
import org.jspecify.annotations.Nullable;

/**
 * {@code SNAPSHOT_MATCH(lists, url)} returns the entry that lists a URL: the most specific entry of
 * the first of the lists that has one, like {@link SnapshotClient#match(byte[], byte[])}. {@code
 * SNAPSHOT_MATCH(lists, url, allow)} returns NULL if an allow set contains the URL, as {@link
 * UrlLists} does. Lists and allow sets are literals with the names of sets whose canonicaliser is
 * {@code url-expression}, separated by commas.
 *
 * <p>Returns NULL if the URL is on no list, and also for a NULL URL and for a URL without a
 * canonical form, which cannot be looked up. The metric {@value #INVALID_URLS} counts the latter,
 * and {@code SNAPSHOT_CONTAINS} returns NULL for them, but FALSE for a URL that is not listed.
 */
public final class SnapshotMatch extends SnapshotFunction {
  static final String INVALID_URLS = "invalidUrls";

  private static final long serialVersionUID = 1;

  /** How many of the sets are lists; the rest are allow sets. */
  private final int lists;

  private transient Counter invalidUrls;

  /**
   * Called by Flink: {@code CREATE FUNCTION SNAPSHOT_MATCH AS 'io.firstseen.sql.SnapshotMatch'}.
   */
  public SnapshotMatch() {
    this(List.of(), Duration.ZERO, 0);
  }

  private SnapshotMatch(List<Source> sources, Duration wait, int lists) {
    super(sources, wait);
    this.lists = lists;
  }

  @Override
  String sqlName() {
    return "SNAPSHOT_MATCH";
  }

  @Override
  List<String> sets(CallContext call) {
    List<String> sets = new ArrayList<>(names(literal(call, 0, "lists")));
    if (hasAllowSets(call)) {
      sets.addAll(names(literal(call, 2, "allow sets")));
    }
    return sets;
  }

  private static boolean hasAllowSets(CallContext call) {
    return call.getArgumentDataTypes().size() > 2;
  }

  private static List<String> names(String sets) {
    return Arrays.stream(sets.split(",", -1)).map(String::strip).toList();
  }

  @Override
  SnapshotFunction specialized(List<Source> sources, Duration wait, CallContext call) {
    return new SnapshotMatch(sources, wait, names(literal(call, 0, "lists")).size());
  }

  @Override
  public void open(FunctionContext context)
      throws IOException, InterruptedException, TimeoutException {
    super.open(context);
    invalidUrls = context.getMetricGroup().counter(INVALID_URLS);
  }

  @Override
  void requireUsable() {
    var unused = current();
  }

  private UrlLists current() {
    List<UrlList> all = new ArrayList<>(sets());
    for (int i = 0; i < sets(); i++) {
      all.add(client(i).urlList());
    }
    return new UrlLists(all.subList(0, lists), all.subList(lists, sets()));
  }

  /** Evaluates the function without allow sets. */
  public @DataTypeHint(value = "STRING", bridgedTo = StringData.class) @Nullable StringData eval(
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) StringData sets,
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) @Nullable StringData url) {
    if (url == null) {
      return null;
    }
    try {
      UrlAnswer answer = current().ask(null, UrlExpressions.of(url.toBytes()));
      return answer.isPresent() ? StringData.fromString(answer.matches().get(0).entry()) : null;
    } catch (InvalidKeyException e) {
      invalidUrls.inc();
      return null;
    }
  }

  /** Evaluates the function with allow sets. */
  public @DataTypeHint(value = "STRING", bridgedTo = StringData.class) @Nullable StringData eval(
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) StringData sets,
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) @Nullable StringData url,
      @DataTypeHint(value = "STRING", bridgedTo = StringData.class) StringData allow) {
    return eval(sets, url);
  }
}
