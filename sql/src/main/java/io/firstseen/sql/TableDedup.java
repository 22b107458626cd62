package io.firstseen.sql;

import static org.apache.flink.util.TimeUtils.formatWithHighestUnit;

import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.filters.near.NearMatch;
import io.firstseen.filters.near.NearRule;
import io.firstseen.operators.KeyHashSource;
import io.firstseen.operators.UserErrorException;
import io.firstseen.operators.dedup.DedupSettings;
import io.firstseen.operators.dedup.Extractor;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.operators.dedup.OutcomeFunction;
import io.firstseen.operators.dedup.OutcomeStream;
import io.firstseen.types.DedupMode;
import io.firstseen.types.Operation;
import io.firstseen.types.TimeToLive;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.connector.ProviderContext;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.data.utils.JoinedRowData;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeFamily;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.utils.EncodingUtils;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/**
 * The dedup of a table, configured by its options: +I and +U add a key, -U and -D delete it. Rows
 * without a usable key are dropped, and counted by the metric {@code deadLetters}.
 *
 * @param emitsAll whether all rows of the input are emitted, with their outcomes
 * @param inEventTime whether keys expire by the watermark
 * @param description of the operator
 */
record TableDedup(
    UnaryOperator<Firstseen<RowData>> settings,
    List<String> keyColumns,
    List<String> primaryKey,
    String uid,
    boolean emitsAll,
    boolean inEventTime,
    String description) {
  static final ConfigOption<String> KEY =
      text("key", "Key column, of type STRING or BYTES. Required.");
  static final ConfigOption<String> SCOPE =
      text(
          "scope",
          "Scope (tenant) column, of type STRING or BYTES. Equal keys in different scopes are different keys.");
  static final ConfigOption<String> UID =
      text(
          "uid",
          "Prefix of the operator uids, by which Flink finds the state at a restart. Default: catalog.database.table.");
  static final ConfigOption<Long> CAPACITY =
      ConfigOptions.key(DedupSettings.CAPACITY)
          .longType()
          .defaultValue(Firstseen.DEFAULT_CAPACITY)
          .withDescription(DedupSettings.CAPACITY_TEXT + ".");
  static final ConfigOption<Double> FPR =
      ConfigOptions.key(DedupSettings.FPR)
          .doubleType()
          .defaultValue(Firstseen.DEFAULT_FALSE_POSITIVE_RATE)
          .withDescription(DedupSettings.FPR_TEXT + ".");
  static final ConfigOption<String> MODE =
      text(
          DedupSettings.MODE,
          DedupMode.APPROXIMATE.id(),
          DedupSettings.MODE_TEXT + ". See [modes](state.md#choose-a-mode).");
  static final ConfigOption<String> CANONICALISER =
      text(
          DedupSettings.CANONICALISER,
          Canonicaliser.NONE.id(),
          DedupSettings.CANONICALISER_TEXT + ".");
  static final ConfigOption<String> STRIP_PARAMETERS =
      text(
          DedupSettings.STRIP_PARAMETERS,
          DedupSettings.STRIP_PARAMETERS_TEXT
              + ". See [stripped parameters](../format/url-v3.md#stripped-parameters).");
  static final ConfigOption<String> NEAR =
      text(
          DedupSettings.NEAR,
          DedupSettings.NEAR_TEXT + ". See [parameters](../format/near-v1.md#parameters).");
  static final ConfigOption<Duration> TTL =
      ConfigOptions.key(DedupSettings.TTL)
          .durationType()
          .noDefaultValue()
          .withDescription(DedupSettings.TTL_TEXT + ". See [expiry](expiry.md).");
  static final ConfigOption<String> TTL_CLOCK =
      text(
          DedupSettings.TTL_CLOCK,
          TimeToLive.Clock.PROCESSING.id(),
          DedupSettings.TTL_CLOCK_TEXT
              + ". For event, a table that is read needs a WATERMARK on a column of the underlying"
              + " connector, and a query that is inserted needs a rowtime column.");
  static final ConfigOption<String> TTL_SINCE =
      text(
          DedupSettings.TTL_SINCE,
          TimeToLive.Since.FIRST_SEEN.id(),
          DedupSettings.TTL_SINCE_TEXT + ".");
  static final ConfigOption<Integer> SHARDS =
      ConfigOptions.key(DedupSettings.SHARDS)
          .intType()
          .defaultValue(Firstseen.DEFAULT_SHARDS)
          .withDescription(DedupSettings.SHARDS_TEXT + ".");
  static final ConfigOption<MemorySize> PAGE_CACHE =
      ConfigOptions.key(DedupSettings.PAGE_CACHE)
          .memoryType()
          .defaultValue(new MemorySize(Firstseen.DEFAULT_PAGE_CACHE_BYTES))
          .withDescription(DedupSettings.PAGE_CACHE_TEXT + ".");
  static final ConfigOption<String> HASH_KEY_FILE =
      text(
          DedupSettings.HASH_KEY_FILE,
          DedupSettings.HASH_KEY_FILE_TEXT
              + ", which the SQL client and every TaskManager read. Fixed for the life of the state."
              + " Default: the public key. See [hash key](security.md#hash-key).");
  static final ConfigOption<String> EMIT =
      text(
          "emit",
          "accepted",
          "Rows that a query reads: `accepted`, or [`all`](#read-duplicates-and-dead-letters).");

  private static ConfigOption<String> text(String name, String description) {
    return ConfigOptions.key(name).stringType().noDefaultValue().withDescription(description);
  }

  private static ConfigOption<String> text(String name, String value, String description) {
    return ConfigOptions.key(name).stringType().defaultValue(value).withDescription(description);
  }

  private static final String ALL = "all";

  /** The metadata column of the outcome, such as {@code duplicate}. */
  static final String OUTCOME = "outcome";

  /** The metadata column of the reason of a dead letter. */
  static final String REASON = "reason";

  /** The metadata column of the id of the text that a text matches, or of its last digits. */
  static final String MATCH = "match";

  /** The metadata column of the number of equal bands. */
  static final String BANDS = "bands";

  static final Set<String> METADATA = Set.of(OUTCOME, REASON, MATCH, BANDS);

  static final Set<ConfigOption<?>> OPTIONAL =
      Set.of(
          SCOPE,
          UID,
          CAPACITY,
          FPR,
          MODE,
          CANONICALISER,
          STRIP_PARAMETERS,
          NEAR,
          TTL,
          TTL_CLOCK,
          TTL_SINCE,
          EMIT,
          SHARDS,
          PAGE_CACHE,
          HASH_KEY_FILE);

  // The parameters whose bounds {@link Firstseen} checks.
  private static final Map<String, ConfigOption<?>> PARAMETERS =
      Map.of("capacity", CAPACITY, "falsePositiveRate", FPR, "shards", SHARDS);

  private static final Map<ConfigOption<?>, String> TYPES =
      Map.of(
          CAPACITY, "a whole number, such as '1000000000'",
          FPR, "a number, such as '0.001'",
          TTL, "a duration, such as '7 d'",
          SHARDS, "a whole number, such as '128'",
          PAGE_CACHE, "a size of memory, such as '64 mb'");

  /**
   * Creates the dedup that the options describe.
   *
   * @param columns the physical columns of the table
   * @param primaryKey the columns of its primary key; empty if it has none
   * @param tableName the name of the table with its catalog and database, which is the default uid
   * @param uidSuffix the suffix of the uid prefix
   * @throws ValidationException if an option is out of bounds
   */
  static TableDedup of(
      ReadableConfig options,
      DataType columns,
      List<String> primaryKey,
      String tableName,
      String uidSuffix) {
    RowType rows = (RowType) columns.getLogicalType();
    String prefix = options.getOptional(UID).orElse(tableName);
    if (prefix.isBlank()) {
      throw new ValidationException(
          "'uid' must not be blank, got '%s': name the dedup, or remove 'uid' to use '%s'"
              .formatted(prefix, tableName));
    }
    String uid = prefix + uidSuffix;
    Extractor<RowData, byte[]> key = column(KEY, options.get(KEY), rows);
    Extractor<RowData, byte[]> scope =
        options.getOptional(SCOPE).map(name -> column(SCOPE, name, rows)).orElse(null);
    if (options.get(KEY).equals(options.get(SCOPE))) {
      throw new ValidationException(
          "'scope' and 'key' must be different columns, both are '%s': name the column of the tenant, or remove 'scope'"
              .formatted(options.get(KEY)));
    }
    for (ConfigOption<String> option : List.of(TTL_SINCE, TTL_CLOCK)) {
      if (options.getOptional(option).isPresent() && options.getOptional(TTL).isEmpty()) {
        throw new ValidationException("'%s' needs 'ttl'".formatted(option.key()));
      }
    }
    try {
      Canonicaliser canonicaliser = canonicaliser(options);
      DedupMode mode = DedupMode.of(options.get(MODE));
      TimeToLive ttl = options.getOptional(TTL).map(length -> ttl(length, options)).orElse(null);
      NearRule near = near(options);
      KeyHashSource hash = hash(options);
      UnaryOperator<Firstseen<RowData>> settings =
          dedup -> {
            dedup
                .key(key)
                .canonicaliser(canonicaliser)
                .capacity(options.get(CAPACITY))
                .falsePositiveRate(options.get(FPR))
                .mode(mode)
                .shards(options.get(SHARDS))
                .pageCacheBytes(options.get(PAGE_CACHE).getBytes())
                .uidPrefix(uid);
            if (scope != null) {
              dedup.scope(scope);
            }
            if (ttl != null) {
              dedup.ttl(ttl);
            }
            if (near != null) {
              dedup.near(near);
            }
            return hash == null ? dedup : dedup.hash(hash);
          };
      var unused = settings.apply(Firstseen.withoutEvents()).parameters();
      List<String> keyColumns =
          Stream.concat(Stream.of(options.get(KEY)), options.getOptional(SCOPE).stream()).toList();
      String description =
          "Deduplicate(key=%s, mode=[%s], capacity=[%d], fpr=[%s], canonicaliser=[%s]%s%s)"
              .formatted(
                  keyColumns,
                  mode.id(),
                  options.get(CAPACITY),
                  options.get(FPR),
                  canonicaliser.id(),
                  near == null ? "" : ", near=[" + near + "]",
                  ttl == null ? "" : ", ttl=[" + formatWithHighestUnit(options.get(TTL)) + "]");
      return new TableDedup(
          settings,
          keyColumns,
          primaryKey,
          uid,
          emitsAll(options.get(EMIT)),
          ttl != null && ttl.clock() == TimeToLive.Clock.EVENT,
          description);
    } catch (
        IllegalArgumentException e) { // Without the cause: the SQL client shows only the innermost.
      throw new ValidationException(withNamesOfOptions(e.getMessage()));
    }
  }

  /** Returns an error of {@link Firstseen} as an error of the option that sets the parameter. */
  private static String withNamesOfOptions(String error) {
    for (Map.Entry<String, ConfigOption<?>> parameter : PARAMETERS.entrySet()) {
      String subject = parameter.getKey() + " must ";
      if (error.startsWith(subject)) {
        return "'%s' must %s"
            .formatted(parameter.getValue().key(), error.substring(subject.length()));
      }
    }
    return error;
  }

  /**
   * Checks that the values of options have the right type.
   *
   * @throws ValidationException without a cause, as the SQL client shows only the innermost
   */
  static void requireTypes(Map<String, String> options) {
    Configuration values = Configuration.fromMap(options);
    TYPES.forEach(
        (option, type) -> {
          try {
            var unused = values.getOptional(option);
          } catch (IllegalArgumentException e) {
            throw new ValidationException(
                "'%s' must be %s, got '%s'"
                    .formatted(option.key(), type, options.get(option.key())));
          }
        });
  }

  private static boolean emitsAll(String emit) {
    if (!emit.equals(ALL) && !emit.equals(EMIT.defaultValue())) {
      throw new ValidationException(
          "'%s' must be %s or %s, got '%s'".formatted(EMIT.key(), EMIT.defaultValue(), ALL, emit));
    }
    return emit.equals(ALL);
  }

  private static Canonicaliser canonicaliser(ReadableConfig options) {
    Canonicaliser rule = Canonicaliser.of(options.get(CANONICALISER));
    String stripped = options.get(STRIP_PARAMETERS);
    if (stripped == null) {
      return rule;
    }
    if (!rule.is(Canonicaliser.URL)) {
      throw new ValidationException(
          "'strip-parameters' needs 'canonicaliser' = 'url', got '" + rule.id() + "'");
    }
    return rule.stripping(stripped);
  }

  private static @Nullable NearRule near(ReadableConfig options) {
    try {
      return options.getOptional(NEAR).map(NearRule::of).orElse(null);
    } catch (IllegalArgumentException e) {
      throw new ValidationException("'near': " + e.getMessage());
    }
  }

  private static TimeToLive ttl(Duration length, ReadableConfig options) {
    return TimeToLive.of(length)
        .by(TimeToLive.Clock.of(options.get(TTL_CLOCK)))
        .since(TimeToLive.Since.of(options.get(TTL_SINCE)));
  }

  private static @Nullable KeyHashSource hash(ReadableConfig options) {
    String file = options.get(HASH_KEY_FILE);
    if (file == null) {
      return null;
    }
    try {
      return KeyHashSource.onWorkers(Path.of(file));
    } catch (IOException e) { // Without the cause: the SQL client shows only the innermost.
      throw new ValidationException(
          "'hash-key-file': cannot read %s: %s".formatted(file, UserErrorException.reason(e)));
    } catch (IllegalArgumentException e) {
      throw new ValidationException(
          "'hash-key-file': cannot read %s: %s".formatted(file, e.getMessage()));
    }
  }

  private static Extractor<RowData, byte[]> column(
      ConfigOption<String> option, String name, RowType rows) {
    int index = rows.getFieldIndex(name);
    LogicalType type = index < 0 ? null : rows.getTypeAt(index);
    boolean isText = type != null && type.is(LogicalTypeFamily.CHARACTER_STRING);
    if (!isText
        && (type == null || !type.isAnyOf(LogicalTypeRoot.BINARY, LogicalTypeRoot.VARBINARY))) {
      throw new ValidationException(
          "'%s' must be a column of type STRING or BYTES that the connector has, got '%s'%s"
              .formatted(
                  option.key(),
                  name,
                  type == null ? " of columns " + rows.getFieldNames() : " of type " + type));
    }
    return isText
        ? row -> row.isNullAt(index) ? null : row.getString(index).toBytes()
        : row -> row.isNullAt(index) ? null : row.getBinary(index);
  }

  String summary() {
    return "firstseen(" + keyColumns.get(0) + ")";
  }

  /**
   * Returns the uids that the operators of the other connector get, so that their state is found
   * again.
   */
  ProviderContext uids() {
    return name -> Optional.of(uid + "-" + name);
  }

  /**
   * Returns the changelog mode of the output for the mode of the input.
   *
   * @throws ValidationException if the input has updates without their old rows, so that the old
   *     keys are unknown, or if the primary key differs from the dedup's key, so that two tasks
   *     would process the changes of one row in any order
   */
  ChangelogMode accepted(ChangelogMode changes) {
    if (changes.containsOnly(RowKind.INSERT)) {
      return ChangelogMode.insertOnly();
    }
    if (changes.contains(RowKind.UPDATE_AFTER) && !changes.contains(RowKind.UPDATE_BEFORE)) {
      throw new ValidationException(
          "'firstseen' needs a changelog with -U rows, as an update deletes the old key, got "
              + changes);
    }
    if (emitsAll) {
      return ChangelogMode.insertOnly();
    }
    if (!primaryKey.isEmpty() && !Set.copyOf(primaryKey).equals(Set.copyOf(keyColumns))) {
      throw new ValidationException(
          "the primary key of a table with updates or deletes must be (%s), %s, got (%s)"
              .formatted(
                  String.join(", ", keyColumns),
                  keyColumns.size() == 1 ? "its 'key'" : "its 'key' and 'scope'",
                  String.join(", ", primaryKey)));
    }
    return ChangelogMode.newBuilder()
        .addContainedKind(RowKind.INSERT)
        .addContainedKind(RowKind.DELETE)
        .build();
  }

  /**
   * Checks that a table with updates or deletes has a primary key, unless the key is the whole row.
   * The columns of a delete may differ from the columns of the first row of its key. Without a
   * primary key, Flink compares whole rows and does not find the row to delete.
   *
   * @param columns the columns of the table, with its metadata
   * @throws ValidationException if there is no primary key
   */
  void requirePrimaryKey(List<String> columns) {
    if (!emitsAll && primaryKey.isEmpty() && !keyColumns.containsAll(columns)) {
      throw new ValidationException(
          "a table with updates or deletes needs a primary key, because a delete may have other columns than the first row of its key: declare PRIMARY KEY (%s) NOT ENFORCED"
              .formatted(
                  keyColumns.stream()
                      .map(EncodingUtils::escapeIdentifier)
                      .collect(Collectors.joining(", "))));
    }
  }

  /**
   * Adds the dedup to a job.
   *
   * @param insertsOnly whether all rows are inserts
   */
  DataStream<RowData> firstSeen(DataStream<RowData> rows, boolean insertsOnly) {
    TypeInformation<RowData> type = rows.getType();
    SingleOutputStreamOperator<RowData> accepted =
        outcomes(
                rows,
                insertsOnly,
                (kind, change) ->
                    switch (kind) {
                      case ACCEPTED, REMOVED -> change.event();
                      default -> null;
                    },
                type)
            .outcomes()
            .setDescription(description); // EXPLAIN JSON_EXECUTION_PLAN shows it.
    return named(accepted.map(TableDedup::insertOrDelete, type), "-rows");
  }

  /**
   * Adds a dedup to a job that emits an insert for each row, with its outcome.
   *
   * @param insertsOnly whether all rows are inserts
   * @param metadata the columns to append, of {@link #METADATA}
   * @param type the rows with these columns
   */
  DataStream<RowData> all(
      DataStream<RowData> rows,
      boolean insertsOnly,
      List<String> metadata,
      TypeInformation<RowData> type) {
    OutcomeStream<RowData, RowData> decided =
        outcomes(
            rows,
            insertsOnly,
            (kind, change) ->
                withMetadata(
                    change.event(),
                    kind.name().toLowerCase(Locale.ROOT).replace('_', '-'),
                    null,
                    change.match(),
                    metadata),
            type);
    SingleOutputStreamOperator<RowData> deadLetters =
        named(
            decided
                .deadLetters()
                .map(
                    rejected ->
                        withMetadata(
                            rejected.event(), "dead-letter", rejected.reason(), null, metadata),
                    type),
            "-dead-letters");
    SingleOutputStreamOperator<RowData> outcomes = decided.outcomes().setDescription(description);
    return named(outcomes.union(deadLetters).map(row -> row, type), "-rows");
  }

  private <R> OutcomeStream<RowData, R> outcomes(
      DataStream<RowData> rows,
      boolean insertsOnly,
      OutcomeFunction<RowData, R> outcome,
      TypeInformation<R> type) {
    Firstseen<RowData> dedup = settings.apply(Firstseen.dedup(rows));
    return (insertsOnly ? dedup : dedup.operation(TableDedup::operation)).apply(outcome, type);
  }

  /** The planner names the last operator and may give it another uid. */
  private SingleOutputStreamOperator<RowData> named(
      SingleOutputStreamOperator<RowData> operator, String suffix) {
    return operator.name(uid + suffix).uid(uid + suffix);
  }

  private static RowData withMetadata(
      RowData row,
      String outcome,
      @Nullable String reason,
      @Nullable NearMatch match,
      List<String> metadata) {
    GenericRowData appended = new GenericRowData(metadata.size());
    for (int i = 0; i < metadata.size(); i++) {
      appended.setField(
          i,
          switch (metadata.get(i)) {
            case OUTCOME -> StringData.fromString(outcome);
            case REASON -> StringData.fromString(reason);
            case MATCH ->
                match == null || match.text().isEmpty()
                    ? null
                    : StringData.fromString(match.text());
            default -> match == null ? null : match.bands();
          });
    }
    return new JoinedRowData(RowKind.INSERT, row, appended);
  }

  private static Operation operation(RowData row) {
    return switch (row.getRowKind()) {
      case INSERT, UPDATE_AFTER -> Operation.ADD;
      case UPDATE_BEFORE, DELETE -> Operation.DELETE;
    };
  }

  /**
   * Changes a row that no other operator references: the dedup received it through its exchange, at
   * any parallelism. Input rows must not be changed, because other operators may also read them.
   */
  private static RowData insertOrDelete(RowData row) {
    row.setRowKind(operation(row) == Operation.ADD ? RowKind.INSERT : RowKind.DELETE);
    return row;
  }

  /**
   * Returns the error for a connector with an unsupported runtime provider.
   *
   * @param instead what to do instead
   */
  static ValidationException unknown(String table, Object provider, String instead) {
    return new ValidationException(
        "'firstseen' does not support table connector '%s', which runs as a %s: %s"
            .formatted(table, provider.getClass().getName(), instead));
  }
}
