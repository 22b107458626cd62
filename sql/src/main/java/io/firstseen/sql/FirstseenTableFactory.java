package io.firstseen.sql;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.catalog.Column.MetadataColumn;
import org.apache.flink.table.catalog.ResolvedCatalogTable;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.catalog.UniqueConstraint;
import org.apache.flink.table.connector.sink.DynamicTableSink;
import org.apache.flink.table.connector.source.DynamicTableSource;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.factories.DynamicTableSinkFactory;
import org.apache.flink.table.factories.DynamicTableSourceFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.types.DataType;
import org.jspecify.annotations.Nullable;

/**
 * The connector {@code firstseen}, which adds a dedup in front of a table of another connector.
 * Reading from and writing to the table only passes rows whose key is seen for the first time, and
 * deletes of live keys.
 *
 * <p>Options that begin with {@code table.} configure the other connector, including {@code
 * table.connector}. {@link TableDedup} declares all other options.
 *
 * <p>All errors are {@link ValidationException}s, which Flink throws when the query is planned.
 */
public final class FirstseenTableFactory
    implements DynamicTableSourceFactory, DynamicTableSinkFactory {
  /** The name of the connector. */
  public static final String IDENTIFIER = "firstseen";

  private static final String WRAPPED_PREFIX = "table.";

  /** Allows a job to read a table and write to it. */
  private static final String WRITING_UID_SUFFIX = "-write";

  private static final String TRANSACTION_TIMEOUT = "properties.transaction.timeout.ms";

  /** Called by Flink, which finds the factory by its name. */
  public FirstseenTableFactory() {}

  @Override
  public String factoryIdentifier() {
    return IDENTIFIER;
  }

  @Override
  public Set<ConfigOption<?>> requiredOptions() {
    return Set.of(TableDedup.KEY);
  }

  @Override
  public Set<ConfigOption<?>> optionalOptions() {
    return TableDedup.OPTIONAL;
  }

  @Override
  public DynamicTableSource createDynamicTableSource(Context context) {
    TableDedup dedup = dedup(context, "");
    DynamicTableSource wrapped =
        FactoryUtil.createDynamicTableSource(
            null,
            context.getObjectIdentifier(),
            wrappedTable(context),
            Map.of(),
            context.getConfiguration(),
            context.getClassLoader(),
            context.isTemporary());
    if (!(wrapped instanceof ScanTableSource scan)) {
      throw new ValidationException(
          "connector '%s' cannot be scanned, which 'firstseen' needs"
              .formatted(wrapped.asSummaryString()));
    }
    return new FirstseenTableSource(
        scan,
        dedup,
        context.getPhysicalRowDataType(),
        rowtime(context.getCatalogTable().getResolvedSchema()));
  }

  /** Returns the rowtime column as the planner names it in the rows of a source. */
  private static @Nullable String rowtime(ResolvedSchema schema) {
    return schema.getWatermarkSpecs().stream()
        .findFirst()
        .flatMap(watermark -> schema.getColumn(watermark.getRowtimeAttribute()))
        .map(
            column ->
                column instanceof MetadataColumn metadata
                    ? "$metadata$" + metadata.getMetadataKey().orElse(metadata.getName())
                    : column.getName())
        .orElse(null);
  }

  @Override
  public DynamicTableSink createDynamicTableSink(Context context) {
    TableDedup dedup = dedup(context, WRITING_UID_SUFFIX);
    if (dedup.emitsAll()) {
      throw new ValidationException(
          "'emit' = 'all' is only supported by a table that is read: remove 'emit', or read the rows through another 'firstseen' table first");
    }
    ResolvedCatalogTable wrapped = wrappedTable(context);
    requireTransactionTimeout(wrapped.getOptions(), context.getConfiguration());
    return new FirstseenTableSink(
        FactoryUtil.createDynamicTableSink(
            null,
            context.getObjectIdentifier(),
            wrapped,
            Map.of(),
            context.getConfiguration(),
            context.getClassLoader(),
            context.isTemporary()),
        dedup,
        DataType.getFieldNames(context.getCatalogTable().getResolvedSchema().toSinkRowDataType()));
  }

  private TableDedup dedup(Context context, String uidSuffix) {
    FactoryUtil.TableFactoryHelper helper = FactoryUtil.createTableFactoryHelper(this, context);
    TableDedup.requireTypes(context.getCatalogTable().getOptions());
    helper.validateExcept(WRAPPED_PREFIX);
    return TableDedup.of(
        helper.getOptions(),
        context.getPhysicalRowDataType(),
        context
            .getCatalogTable()
            .getResolvedSchema()
            .getPrimaryKey()
            .map(UniqueConstraint::getColumns)
            .orElse(List.of()),
        context.getObjectIdentifier().asSummaryString(),
        uidSuffix);
  }

  /**
   * Checks the transaction timeout of an exactly-once sink of Kafka. The connector's default of 1 h
   * is longer than brokers allow by default, so a job without the property restarts forever. A
   * table may set a longer timeout if the brokers allow it.
   */
  private static void requireTransactionTimeout(
      Map<String, String> options, ReadableConfig settings) {
    String connector = options.get(FactoryUtil.CONNECTOR.key());
    if (!Set.of("kafka", "upsert-kafka").contains(connector)
        || !"exactly-once".equalsIgnoreCase(options.get("sink.delivery-guarantee"))) {
      return;
    }
    String timeout = options.get(TRANSACTION_TIMEOUT);
    if (timeout == null) {
      throw new ValidationException(
          "'table.sink.delivery-guarantee' = 'exactly-once' needs 'table.%s': Flink's default of 1 h is longer than the 15 min that brokers allow by default. Set it to '900000', or to a longer time if transaction.max.timeout.ms of the brokers allows it"
              .formatted(TRANSACTION_TIMEOUT));
    }
    int millis;
    try {
      millis = Integer.parseInt(timeout.strip());
    } catch (NumberFormatException e) {
      millis = 0;
    }
    if (millis < 1) {
      throw new ValidationException(
          "'table.%s' must be a whole number in [1, 2147483647], such as '900000', got '%s'"
              .formatted(TRANSACTION_TIMEOUT, timeout));
    }
    Duration interval = settings.get(CheckpointingOptions.CHECKPOINTING_INTERVAL);
    if (interval != null && interval.toMillis() >= millis) {
      throw new ValidationException(
          "'table.%s' must be longer than '%s', which is %d ms, as each transaction is open from one checkpoint to the next; got '%s'"
              .formatted(
                  TRANSACTION_TIMEOUT,
                  CheckpointingOptions.CHECKPOINTING_INTERVAL.key(),
                  interval.toMillis(),
                  timeout));
    }
  }

  private static ResolvedCatalogTable wrappedTable(Context context) {
    Map<String, String> options = new HashMap<>();
    context
        .getCatalogTable()
        .getOptions()
        .forEach(
            (name, value) -> {
              if (name.startsWith(WRAPPED_PREFIX + "scan.watermark.")) {
                throw new ValidationException(
                    "'%s' has no effect, as Flink reads it of the table itself: write '%s'"
                        .formatted(name, name.substring(WRAPPED_PREFIX.length())));
              }
              if (name.startsWith(WRAPPED_PREFIX)) {
                options.put(name.substring(WRAPPED_PREFIX.length()), value);
              }
            });
    String connector = options.get(FactoryUtil.CONNECTOR.key());
    if (connector == null || connector.equals(IDENTIFIER)) {
      throw new ValidationException(
          "'table.connector' must name the connector of the table behind 'firstseen', got "
              + (connector == null ? "none" : "'" + connector + "'"));
    }
    return context.getCatalogTable().copy(options);
  }
}
