package io.firstseen.sql;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.ExplainDetail;
import org.apache.flink.table.api.StatementSet;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The connector {@code firstseen} in front of tables of files, with the real planner. */
class FirstseenConnectorTest {
  @RegisterExtension
  static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(4)
              .build());

  @TempDir private Path directory;
  private StreamTableEnvironment tables;

  @BeforeEach
  void makeEnvironment() {
    tables = Sql.tables();
  }

  @Test
  void onlyFirstSeenRowsAreRead() throws Exception {
    events("a 1", "b 2", "a 3", "c 4", "b 5");
    table("events", "'key' = 'k'");
    assertThat(Sql.rows(tables, "SELECT k, n FROM events"))
        .containsExactly("+I[a, 1]", "+I[b, 2]", "+I[c, 4]");
  }

  @Test
  void scopesAndCanonicalFormsTellKeysApart() throws Exception {
    events("http://A.org/ 1", "http://a.org/ 2", "http://a.org/ 1", "no-url 3");
    table("events", "'key' = 'k', 'scope' = 'n', 'canonicaliser' = 'url', 'mode' = 'exact'");
    assertThat(Sql.rows(tables, "SELECT n FROM events WHERE k <> 'no-url'"))
        .containsExactly("+I[1]", "+I[2]");
  }

  @Test
  void rowsWithoutAKeyAreDropped() throws Exception {
    write(
        "events", "{\"n\": \"1\"}", "{\"k\": \"\", \"n\": \"2\"}", "{\"k\": \"a\", \"n\": \"3\"}");
    table("events", "'key' = 'k'");
    assertThat(Sql.rows(tables, "SELECT n FROM events")).containsExactly("+I[3]");
  }

  @Test
  void metadataOfTheOtherConnectorCanBeRead() throws Exception {
    events("a 1", "a 2");
    tables.executeSql(
        create(
            "events",
            "k STRING, n STRING, f STRING METADATA FROM 'file.name' VIRTUAL",
            "'key' = 'k'",
            "json"));
    assertThat(Sql.rows(tables, "SELECT n, f FROM events")).containsExactly("+I[1, events]");
    assertThat(Sql.rows(tables, "SELECT f FROM events")).containsExactly("+I[events]");
  }

  @Test
  void allRowsCanBeReadWithTheirOutcomes() throws Exception {
    write(
        "events",
        change("c", "null", row("a", 1)),
        change("c", "null", row("a", 2)),
        change("d", row("a", 2), "null"),
        change("d", row("x", 3), "null"),
        change("c", "null", "{\"n\": \"4\"}"));
    tables.getConfig().set("table.exec.resource.default-parallelism", "1");
    tables.executeSql(
        create(
            "events",
            "k STRING, n STRING, outcome STRING METADATA VIRTUAL, f STRING METADATA FROM"
                + " 'file.name' VIRTUAL, why STRING METADATA FROM 'reason' VIRTUAL",
            "'key' = 'k', 'emit' = 'all'",
            "debezium-json"));
    assertThat(Sql.rows(tables, "SELECT n, outcome, f, why FROM events"))
        .containsExactly(
            "+I[1, accepted, events, null]",
            "+I[2, duplicate, events, null]",
            "+I[2, removed, events, null]",
            "+I[3, unknown-delete, events, null]",
            "+I[4, dead-letter, events, key is missing]");
    assertThat(Sql.rows(tables, "SELECT outcome FROM events WHERE outcome = 'duplicate'"))
        .containsExactly("+I[duplicate]");
    assertThatThrownBy(() -> tables.executeSql("INSERT INTO events SELECT k, n FROM events"))
        .rootCause()
        .hasMessageStartingWith("'emit' = 'all' is only supported by a table that is read");
  }

  @Test
  void textsThatResembleALiveTextAreDuplicates() throws Exception {
    String[] texts = {
      "{\"k\": \"Dear Anna, claim your FREE prize worth $500 today!\", \"n\": \"1\"}",
      "{\"k\": \"dear Robert, claim your free prize worth £20 today\", \"n\": \"2\"}",
      "{\"k\": \"your parcel waits at the depot, pay the fee\", \"n\": \"3\"}"
    };
    write("texts", texts);
    String options = "'key' = 'k', 'canonicaliser' = 'text', 'near' = 'short'";
    tables.getConfig().set("table.exec.resource.default-parallelism", "1");
    table("texts", options);
    assertThat(Sql.rows(tables, "SELECT n FROM texts")).containsExactly("+I[1]", "+I[3]");
    for (String mode : List.of("approximate", "exact")) {
      write("texts_" + mode, texts);
      tables.executeSql(
          create(
              "texts_" + mode,
              "k STRING, n STRING, outcome STRING METADATA VIRTUAL,"
                  + " `match` STRING METADATA VIRTUAL, bands INT METADATA VIRTUAL",
              options + ", 'emit' = 'all', 'mode' = '" + mode + "'",
              "json"));
      String match = mode.equals("exact") ? "eb1aa1dd8865ab6d" : "b6d";
      assertThat(Sql.rows(tables, "SELECT n, outcome, `match`, bands FROM texts_" + mode))
          .containsExactly(
              "+I[1, accepted, eb1aa1dd8865ab6d, 0]",
              "+I[2, duplicate, " + match + ", 4]",
              "+I[3, accepted, cc143fa0895c1982, 0]");
    }
  }

  @Test
  void aFoldingRuleFindsSpacedOutAndLookAlikeLetters() throws Exception {
    tables.getConfig().set("table.exec.resource.default-parallelism", "1");
    for (String rule : List.of("short", "short+fold")) {
      String table = rule.replace('+', '_');
      write(
          table,
          "{\"k\": \"Dear Anna, claim your free prize worth $500 today!\", \"n\": \"1\"}",
          "{\"k\": \"D e a r Anna, сlаim уоur f.r.e.e рrizе worth $500 tоdау!\", \"n\": \"2\"}");
      table(table, "'key' = 'k', 'canonicaliser' = 'text', 'near' = '%s'".formatted(rule));
      assertThat(Sql.rows(tables, "SELECT n FROM " + table))
          .hasSize(rule.equals("short") ? 2 : 1)
          .contains("+I[1]");
    }
  }

  @Test
  void keysExpireByTheRowtime() throws Exception {
    write(
        "events",
        "{\"k\": \"a\", \"n\": \"1\", \"at\": \"2026-11-20 10:00:00\"}",
        "{\"k\": \"a\", \"n\": \"2\", \"at\": \"2026-11-20 10:30:00\"}",
        "{\"k\": \"b\", \"n\": \"3\", \"at\": \"2026-11-20 13:00:00\"}",
        "{\"k\": \"a\", \"n\": \"4\", \"at\": \"2026-11-20 13:00:01\"}");
    String columns = "k STRING, n STRING, `at` TIMESTAMP(3)";
    String options = "'key' = 'k', 'ttl' = '1 h', 'ttl-clock' = 'event'";
    tables.getConfig().set("table.exec.resource.default-parallelism", "1");
    // Flink emits watermarks by a timer, which may not fire between the rows of a file.
    tables.executeSql(
        create(
            "events",
            columns + ", WATERMARK FOR `at` AS `at`",
            options + ", 'scan.watermark.emit.strategy' = 'on-event'",
            "json"));
    assertThat(Sql.rows(tables, "SELECT n FROM events")).containsExactly("+I[1]", "+I[3]", "+I[4]");
    tables.executeSql(create("unmarked", columns, options, "json"));
    assertThatThrownBy(() -> tables.explainSql("SELECT n FROM unmarked"))
        .hasMessageContaining("'ttl-clock' = 'event' needs a WATERMARK");
  }

  @Test
  void connectorsWithOldInterfacesAreRead() {
    tables.executeSql(
        """
        CREATE TABLE generated (k STRING) WITH (
          'connector' = 'firstseen', 'key' = 'k', 'table.connector' = 'datagen',
          'table.number-of-rows' = '1000', 'table.fields.k.length' = '1')
        """);
    assertThat(Sql.rows(tables, "SELECT k FROM generated")).hasSize(16).doesNotHaveDuplicates();
  }

  @Test
  void connectorsWithOldInterfacesAreWritten() throws Exception {
    events("a 1", "b 2", "a 3");
    tables.executeSql(plain("events", "k STRING, n STRING"));
    tables.executeSql(
        "CREATE TABLE printed (k STRING) WITH ('connector' = 'firstseen', 'key' = 'k',"
            + " 'table.connector' = 'print')");
    PrintStream standardOutput = System.out;
    ByteArrayOutputStream printed = new ByteArrayOutputStream();
    System.setOut(new PrintStream(printed, true, UTF_8));
    try {
      tables.executeSql("INSERT INTO printed SELECT k FROM events").await();
    } finally {
      System.setOut(standardOutput);
    }
    assertThat(printed.toString(UTF_8).lines().map(line -> line.replaceAll(".*> ", "")))
        .containsExactlyInAnyOrder("+I[a]", "+I[b]");
  }

  @Test
  void watermarksAreMadeBeforeTheDedup() throws Exception {
    write(
        "events",
        "{\"k\": \"a\", \"at\": \"2026-11-20 10:00:00\"}",
        "{\"k\": \"b\", \"at\": \"2026-11-20 10:00:30\"}",
        "{\"k\": \"a\", \"at\": \"2026-11-20 11:00:00\"}");
    tables.executeSql(
        create(
            "events",
            "k STRING, `at` TIMESTAMP(3), WATERMARK FOR `at` AS `at`",
            "'key' = 'k'",
            "json"));
    assertThat(
            Sql.rows(
                tables,
                "SELECT window_start, COUNT(*) FROM TUMBLE(TABLE events, DESCRIPTOR(`at`),"
                    + " INTERVAL '1' MINUTE) GROUP BY window_start, window_end"))
        .containsExactly("+I[2026-11-20T10:00, 2]");
    assertThat(tables.explainSql("SELECT * FROM events"))
        .contains(
            "TableSourceScan(table=[[default_catalog, default_database, events, watermark=[at]");
  }

  @Test
  void theFirstRowIsTheFirstToArriveEvenIfItIsLate() throws Exception {
    write(
        "events",
        "{\"k\": \"a\", \"n\": \"1\", \"at\": \"2026-11-20 10:00:05\"}",
        "{\"k\": \"a\", \"n\": \"2\", \"at\": \"2026-11-20 10:00:01\"}",
        "{\"k\": \"b\", \"n\": \"3\", \"at\": \"2026-11-20 11:00:00\"}",
        "{\"k\": \"c\", \"n\": \"4\", \"at\": \"2026-11-20 10:00:00\"}");
    String columns =
        "k STRING, n STRING, `at` TIMESTAMP(3), WATERMARK FOR `at` AS `at` - INTERVAL '10' SECOND";
    tables.executeSql(create("events", columns, "'key' = 'k'", "json"));
    tables.executeSql(
        plain("plain", columns)
            .replace(
                directory.resolve("plain").toString(), directory.resolve("events").toString()));
    tables.getConfig().set("table.exec.resource.default-parallelism", "1");
    assertThat(Sql.rows(tables, "SELECT k, n FROM events"))
        .containsExactly("+I[a, 1]", "+I[b, 3]", "+I[c, 4]");
    assertThat(
            Sql.rows(
                tables,
                "SELECT k, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY `at`) AS r"
                    + " FROM plain) WHERE r = 1"))
        .containsExactly("+I[a, 2]", "+I[b, 3]");
  }

  @Test
  void statementsShareADedup() throws Exception {
    events("a 1", "b 2", "a 3");
    table("events", "'key' = 'k'");
    tables.executeSql(plain("keys", "k STRING"));
    tables.executeSql(plain("numbers", "n STRING"));
    tables
        .createStatementSet()
        .addInsertSql("INSERT INTO keys SELECT k FROM events")
        .addInsertSql("INSERT INTO numbers SELECT n FROM events WHERE k > 'a'")
        .execute()
        .await();
    assertThat(Sql.lines(directory.resolve("keys"))).hasSize(2);
    assertThat(Sql.lines(directory.resolve("numbers"))).containsExactly("{\"n\":\"2\"}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ", 'uid' = 'events'"})
  void aJobMayReadATableAndWriteToIt(String uid) throws Exception {
    Files.createDirectory(directory.resolve("events"));
    write("events/1", row("a", 1), row("b", 2), row("a", 3));
    table("events", "'key' = 'k'" + uid);
    tables.executeSql("INSERT INTO events SELECT UPPER(k), n FROM events").await();
    assertThat(Sql.lines(directory.resolve("events")))
        .contains("{\"k\":\"A\",\"n\":\"1\"}", "{\"k\":\"B\",\"n\":\"2\"}")
        .hasSize(5);
  }

  @Test
  void tablesOfOneNameInTwoDatabasesHaveTheirOwnDedups() throws Exception {
    events("a 1", "b 2", "a 3");
    for (String database : List.of("db1", "db2")) {
      tables.executeSql("CREATE DATABASE " + database);
      tables.executeSql(
          create(database + ".events", "k STRING, n STRING", "'key' = 'k'", "json")
              .replace(database + ".events'", "events'"));
    }
    assertThat(Sql.rows(tables, "SELECT k FROM db1.events UNION ALL SELECT n FROM db2.events"))
        .containsExactly("+I[1]", "+I[2]", "+I[a]", "+I[b]");
  }

  @Test
  void insertsIntoATableShareADedup() throws Exception {
    events("a 1", "b 2", "a 3");
    tables.executeSql(plain("events", "k STRING, n STRING"));
    table("written", "'key' = 'k'");
    StatementSet inserts =
        tables
            .createStatementSet()
            .addInsertSql("INSERT INTO written SELECT k, n FROM events")
            .addInsertSql("INSERT INTO written SELECT LOWER(k), n FROM events");
    inserts.execute().await();
    assertThat(Sql.lines(directory.resolve("written"))).hasSize(2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO written SELECT n, k FROM t",
        "INSERT INTO u SELECT k, n FROM t /*+ OPTIONS('capacity' = '5') */"
      })
  void dedupsThatThePlannerDoesNotJoinNeedTheirOwnUids(String insert) throws Exception {
    tables.getConfig().set("table.optimizer.reuse-sink-enabled", "false");
    write("t", row("a", 1));
    table("t", "'key' = 'k'");
    table("written", "'key' = 'k'");
    tables.executeSql(plain("u", "k STRING, n STRING"));
    StatementSet inserts =
        tables
            .createStatementSet()
            .addInsertSql("INSERT INTO written SELECT k, n FROM t")
            .addInsertSql(insert);
    assertThatThrownBy(() -> inserts.execute().await())
        .satisfies(e -> assertThat(messages(e)).contains("Hash collision on user-specified ID"));
  }

  @Test
  void batchModeIsRefused() throws Exception {
    events("a 1");
    tables =
        StreamTableEnvironment.create(
            StreamExecutionEnvironment.getExecutionEnvironment(),
            EnvironmentSettings.inBatchMode());
    table("events", "'key' = 'k'");
    assertThatThrownBy(() -> Sql.rows(tables, "SELECT k FROM events"))
        .satisfies(e -> assertThat(messages(e)).contains("runtime-mode STREAMING"));
  }

  @Test
  void anUpsertChangelogIsRefused() {
    tables.executeSql(
        "CREATE TABLE t (k STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'firstseen',"
            + " 'key' = 'k', 'table.connector' = 'upsert-kafka', 'table.topic' = 't',"
            + " 'table.key.format' = 'raw', 'table.value.format' = 'json',"
            + " 'table.properties.bootstrap.servers' = 'localhost:1')");
    assertThatThrownBy(() -> tables.explainSql("SELECT * FROM t"))
        .satisfies(e -> assertThat(messages(e)).contains("needs a changelog with -U rows"));
  }

  @Test
  void deletesAndUpdatesForgetKeys() throws Exception {
    write(
        "events",
        change("c", null, row("a", 1)),
        change("c", null, row("a", 2)),
        change("u", row("a", 1), row("b", 3)),
        change("c", null, row("a", 4)),
        change("d", row("b", 3), null),
        change("d", row("z", 5), null));
    tables.executeSql(
        create(
            "events",
            "k STRING, n STRING, PRIMARY KEY (k) NOT ENFORCED",
            "'key' = 'k'",
            "debezium-json"));
    tables.getConfig().set("table.exec.resource.default-parallelism", "1");
    assertThat(Sql.inOrder(tables, "SELECT k, n FROM events"))
        .containsExactly("+I[a, 1]", "-D[a, 1]", "+I[b, 3]", "+I[a, 4]", "-D[b, 3]");
  }

  @Test
  void onlyFirstSeenRowsAreWritten() throws Exception {
    events("a 1", "b 2", "a 3", "c 4", "b 5");
    tables.executeSql(plain("events", "k STRING, n STRING"));
    tables.executeSql(create("written", "k STRING, n STRING", "'key' = 'k'", "json"));
    tables.executeSql("INSERT INTO written SELECT UPPER(k), n FROM events WHERE n <> '1'").await();
    assertThat(Sql.lines(directory.resolve("written")))
        .containsExactly(
            "{\"k\":\"A\",\"n\":\"3\"}", "{\"k\":\"B\",\"n\":\"2\"}", "{\"k\":\"C\",\"n\":\"4\"}");
  }

  @Test
  void aChangelogIsWritten() throws Exception {
    events("a 1", "b 2", "a 3");
    tables.executeSql(plain("events", "k STRING, n STRING"));
    tables.executeSql(create("written", "c STRING", "'key' = 'c'", "debezium-json"));
    tables
        .executeSql("INSERT INTO written SELECT CAST(COUNT(*) AS STRING) FROM events GROUP BY k")
        .await();
    // Keys a and b have count 1, so one of them is a duplicate; the update of a deletes 1 and adds
    // 2.
    assertThat(Sql.lines(directory.resolve("written")))
        .containsExactly(
            "{\"before\":null,\"after\":{\"c\":\"1\"},\"op\":\"c\"}",
            "{\"before\":null,\"after\":{\"c\":\"2\"},\"op\":\"c\"}",
            "{\"before\":{\"c\":\"1\"},\"after\":null,\"op\":\"d\"}");
  }

  @Test
  void aSinkThatOnlyInsertsIsRefused() throws Exception {
    events("a 1");
    tables.executeSql(plain("events", "k STRING, n STRING"));
    tables.executeSql(create("written", "c STRING", "'key' = 'c'", "json"));
    assertThatThrownBy(
            () ->
                tables.executeSql(
                    "INSERT INTO written SELECT CAST(COUNT(*) AS STRING) FROM events GROUP BY k"))
        .hasMessageContaining("must take [INSERT, DELETE], it takes [INSERT]");
  }

  @ParameterizedTest
  @CsvSource({"1, true", "2, true", "3, false", "4, false"})
  void theSinkOfAChangelogMustKeepItsOrder(int parallelism, boolean keepsIt) throws Exception {
    events("a 1");
    tables.executeSql(plain("events", "k STRING, n STRING"));
    tables.executeSql(
        ("CREATE TABLE written (c STRING, n STRING, PRIMARY KEY (c) NOT ENFORCED) WITH"
                + " ('connector' = 'firstseen', 'key' = 'c',"
                + " 'table.connector' = 'kafka', 'table.topic' = 't', 'table.key.format' = 'json',"
                + " 'table.key.fields' = 'c', 'table.format' = 'debezium-json', 'table.properties.bootstrap.servers' = 'localhost:1',"
                + " 'table.sink.parallelism' = '%d')")
            .formatted(parallelism));
    var unused = tables.explainSql("INSERT INTO written SELECT k, n FROM events");
    ThrowingCallable changelog =
        () -> tables.explainSql("INSERT INTO written SELECT k, MAX(n) FROM events GROUP BY k");
    if (keepsIt) {
      assertThatCode(changelog).doesNotThrowAnyException();
    } else {
      assertThatThrownBy(changelog)
          .hasMessageContaining(
              "'table.sink.parallelism' must be 1 or the dedup's parallelism, 2, to keep the order of a"
                  + " changelog, got "
                  + parallelism);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "k|'key' = 'k'|",
        "n|'key' = 'k'|must be (k), its 'key', got (n)",
        "k, n|'key' = 'k'|must be (k), its 'key', got (k, n)",
        "n, k|'key' = 'k', 'scope' = 'n'|",
        "k|'key' = 'k', 'scope' = 'n'|must be (k, n), its 'key' and 'scope', got (k)",
      })
  void thePrimaryKeyOfAChangelogMustBeTheKey(String primaryKey, String options, String reason)
      throws Exception {
    events("a 1");
    tables.executeSql(plain("events", "k STRING, n STRING"));
    String columns = "k STRING, n STRING, PRIMARY KEY (%s) NOT ENFORCED".formatted(primaryKey);
    tables.executeSql(create("changes", columns, options, "debezium-json"));
    tables.executeSql(create("inserts", columns, options, "json"));
    for (String statement :
        List.of(
            "SELECT * FROM changes",
            "INSERT INTO changes SELECT k, MAX(n) FROM events GROUP BY k")) {
      ThrowingCallable plan = () -> tables.explainSql(statement);
      if (reason == null) {
        assertThatCode(plan).doesNotThrowAnyException();
      } else {
        assertThatThrownBy(plan)
            .satisfies(
                e ->
                    assertThat(messages(e))
                        .contains("primary key of a table with updates or deletes " + reason));
      }
    }
    for (String statement :
        List.of("INSERT INTO changes SELECT * FROM events", "SELECT * FROM inserts")) {
      assertThatCode(() -> tables.explainSql(statement)).doesNotThrowAnyException();
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "k STRING, n STRING|'key' = 'k'|(`k`)|(`k`)",
        "k STRING, n STRING, x INT|'key' = 'k', 'scope' = 'n'|(`k`, `n`)|(`k`, `n`)",
        "k STRING, f STRING METADATA FROM 'file.name' VIRTUAL|'key' = 'k'|(`k`)|",
        "k STRING|'key' = 'k'||",
        "k STRING, n STRING|'key' = 'k', 'scope' = 'n'||",
      })
  void aChangelogWithMoreColumnsThanTheKeyNeedsAPrimaryKey(
      String columns, String options, String keyToRead, String keyToWrite) throws Exception {
    events("a 1");
    tables.executeSql(plain("events", "k STRING, n STRING"));
    tables.executeSql(create("changes", columns, options, "debezium-json"));
    tables.executeSql(create("inserts", columns, options, "json"));
    assertNeedsPrimaryKey("SELECT k FROM changes", keyToRead);
    assertNeedsPrimaryKey(
        "INSERT INTO changes (k) SELECT MAX(k) FROM events GROUP BY n", keyToWrite);
    assertNeedsPrimaryKey("SELECT k FROM inserts", null);
    assertNeedsPrimaryKey("INSERT INTO changes (k) SELECT k FROM events", null);
  }

  private void assertNeedsPrimaryKey(String statement, String primaryKey) {
    ThrowingCallable plan = () -> tables.explainSql(statement);
    if (primaryKey == null) {
      assertThatCode(plan).doesNotThrowAnyException();
    } else {
      assertThatThrownBy(plan)
          .hasMessageContaining(
              "needs a primary key, because a delete may have other columns than the first row of"
                  + " its key: declare PRIMARY KEY %s NOT ENFORCED",
              primaryKey);
    }
  }

  @Test
  void theExecutionPlanShowsTheDedup() throws Exception {
    events("a 1");
    table("events", "'key' = 'k', 'scope' = 'n', 'ttl' = '7 d', 'mode' = 'exact'");
    table("written", "'key' = 'n', 'capacity' = '5', 'fpr' = '0.01', 'canonicaliser' = 'url'");
    assertThat(
            tables.explainSql(
                "INSERT INTO written SELECT k, n FROM events", ExplainDetail.JSON_EXECUTION_PLAN))
        .contains(
            "Deduplicate(key=[k, n], mode=[exact], capacity=[1000000], fpr=[0.001],"
                + " canonicaliser=[none], ttl=[7 d])",
            "Deduplicate(key=[n], mode=[approximate], capacity=[5], fpr=[0.01],"
                + " canonicaliser=[url])");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "'key' = 'x'|'key' must be a column of type STRING or BYTES that the connector has, got 'x'",
        "'key' = 'i'|'key' must be a column of type STRING or BYTES that the connector has, got 'i' of type INT",
        "'key' = 'k', 'fpr' = '0.5'|'fpr' must be in (0, 0.1], got 0.5",
        "'key' = 'k', 'capacity' = '0'|'capacity' must be at least 1, got 0",
        "'key' = 'k', 'capacity' = '1e9'|'capacity' must be a whole number, such as '1000000000', got '1e9'",
        "'key' = 'k', 'capacity' = ''|'capacity' must be a whole number, such as '1000000000', got ''",
        "'key' = 'k', 'capacity' = '99999999999999999999'|'capacity' must be a whole number, such as '1000000000', got '99999999999999999999'",
        "'key' = 'k', 'fpr' = 'NaN'|'fpr' must be in (0, 0.1], got NaN",
        "'key' = 'k', 'ttl' = '-1 d'|'ttl' must be a duration, such as '7 d', got '-1 d'",
        "'key' = 'k', 'scope' = ''|'scope' must be a column of type STRING or BYTES that the connector has, got ''",
        "'key' = 'k', 'fpr' = 'low'|'fpr' must be a number, such as '0.001', got 'low'",
        "'key' = 'k', 'ttl' = 'a week'|'ttl' must be a duration, such as '7 d', got 'a week'",
        "'key' = 'k', 'dedup-shards' = '4.5'|'dedup-shards' must be a whole number, such as '128', got '4.5'",
        "'key' = 'k', 'page-cache' = '1 x'|'page-cache' must be a size of memory, such as '64 mb', got '1 x'",
        "'key' = 'k', 'uid' = ''|'uid' must not be blank, got '': name the dedup, or remove 'uid' to use 'default_catalog.default_database.events'",
        "'key' = 'k', 'uid' = ' '|'uid' must not be blank, got ' '",
        "'key' = 'k', 'scope' = 'k'|'scope' and 'key' must be different columns, both are 'k'",
        "'key' = 'k', 'dedup-shards' = '100000'|'dedup-shards' must be a power of two in [1, 32768], got 100000",
        "'key' = 'k', 'dedup-shards' = '65536'|'dedup-shards' must be a power of two in [1, 32768], got 65536",
        "'key' = 'k', 'dedup-shards' = '3'|'dedup-shards' must be a power of two in [1, 32768], got 3",
        "'key' = 'k', 'mode' = 'x'|mode must be one of approximate, exact, exact-keys, got 'x'",
        "'key' = 'k', 'ttl' = '1 ms'|ttl must be in [1000, 70368744177664] ms, got 1",
        "'key' = 'k', 'ttl' = '200000000000 d'|ttl must be in [1000, 70368744177664] ms, got PT4800000000000H",
        "'key' = 'k', 'ttl-since' = 'last-seen'|'ttl-since' needs 'ttl'",
        "'key' = 'k', 'strip-parameters' = 'a'|'strip-parameters' needs 'canonicaliser' = 'url', got 'none'",
        "'key' = 'k', 'hash-key-file' = '/nowhere'|'hash-key-file': cannot read /nowhere: there is no such file or directory",
        "'key' = 'k', 'canonicaliser' = 'text', 'near' = 'words:17,14x8,1'|'near': shingle must be in [1, 16], got 17",
        "'key' = 'k', 'near' = 'short'|near needs the canonicaliser text, got none",
        "'key' = 'k', 'hash-key-file' = '/dev/null'|'hash-key-file': cannot read /dev/null: a hash key must be 32 hexadecimal digits, got 0 characters",
        "'key' = 'k', 'table.scan.watermark.idle-timeout' = '10 s'|'table.scan.watermark.idle-timeout' has no effect, as Flink reads it of the table itself: write 'scan.watermark.idle-timeout'",
        "'key' = 'k', 'colour' = 'red'|Unsupported options found for 'firstseen'",
        "'capacity' = '5'|One or more required options are missing",
      })
  void optionsOutOfBoundsAreRefused(String options, String reason) throws Exception {
    events("a 1");
    tables.executeSql(create("events", "k STRING, i INT", options, "json"));
    // The SQL client shows only the innermost cause.
    assertThatThrownBy(() -> tables.explainSql("SELECT * FROM events"))
        .rootCause()
        .hasMessageContaining(reason);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "exactly-once||needs 'table.properties.transaction.timeout.ms': Flink's default of 1 h is longer than the 15 min that brokers allow by default",
        "Exactly-Once||needs 'table.properties.transaction.timeout.ms'",
        "exactly-once|900000|",
        "exactly-once|3600000|",
        "exactly-once|15 min|'table.properties.transaction.timeout.ms' must be a whole number in [1, 2147483647], such as '900000', got '15 min'",
        "exactly-once|3000000000|must be a whole number in [1, 2147483647], such as '900000', got '3000000000'",
        "exactly-once|-1|must be a whole number in [1, 2147483647], such as '900000', got '-1'",
        "exactly-once|10000|must be longer than 'execution.checkpointing.interval', which is 10000 ms",
        "exactly-once|10001|",
        "at-least-once||",
        "none||",
      })
  void anExactlyOnceTopicNeedsATransactionTimeoutThatBrokersAllow(
      String guarantee, String timeout, String reason) throws Exception {
    events("a 1");
    table("events", "'key' = 'k'");
    tables.getConfig().set("execution.checkpointing.interval", "10s");
    String options =
        " 'table.topic' = 't', 'table.properties.bootstrap.servers' = 'localhost:1',"
            + " 'table.sink.transactional-id-prefix' = 't', 'table.sink.delivery-guarantee' = '%s'%s)"
                .formatted(
                    guarantee,
                    timeout == null
                        ? ""
                        : ", 'table.properties.transaction.timeout.ms' = '" + timeout + "'");
    tables.executeSql(
        "CREATE TABLE appends (k STRING) WITH ('connector' = 'firstseen', 'key' = 'k',"
            + " 'table.connector' = 'kafka', 'table.format' = 'json',"
            + options);
    tables.executeSql(
        "CREATE TABLE upserts (k STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' ="
            + " 'firstseen', 'key' = 'k', 'table.connector' = 'upsert-kafka',"
            + " 'table.key.format' = 'raw', 'table.value.format' = 'json',"
            + options);
    for (String table : List.of("appends", "upserts")) {
      ThrowingCallable plan =
          () -> tables.explainSql("INSERT INTO %s SELECT k FROM events".formatted(table));
      if (reason == null) {
        assertThatCode(plan).doesNotThrowAnyException();
      } else {
        assertThatThrownBy(plan).rootCause().hasMessageContaining(reason);
      }
    }
  }

  @Test
  void theOtherConnectorMustBeNamed() {
    tables.executeSql(
        "CREATE TABLE t (k STRING) WITH ('connector' = 'firstseen', 'key' = 'k', 'table.x' = 'y')");
    assertThatThrownBy(() -> tables.explainSql("SELECT * FROM t"))
        .satisfies(
            e ->
                assertThat(messages(e))
                    .contains(
                        "'table.connector' must name the connector of the table behind"
                            + " 'firstseen', got none"));
  }

  private static String messages(Throwable e) {
    return e == null ? "" : e.getMessage() + "\n" + messages(e.getCause());
  }

  private static String row(String key, int n) {
    return "{\"k\": \"" + key + "\", \"n\": \"" + n + "\"}";
  }

  private static String change(String operation, String before, String after) {
    return "{\"op\": \"%s\", \"before\": %s, \"after\": %s}".formatted(operation, before, after);
  }

  /** Writes a file of events, each a key and another text. */
  private void events(String... events) throws IOException {
    String[] lines = new String[events.length];
    for (int i = 0; i < lines.length; i++) {
      String[] parts = events[i].split(" ", 2);
      lines[i] = "{\"k\": \"%s\", \"n\": \"%s\"}".formatted(parts[0], parts[1]);
    }
    write("events", lines);
  }

  private void write(String file, String... lines) throws IOException {
    Files.writeString(directory.resolve(file), String.join("\n", lines) + "\n");
  }

  private void table(String name, String options) {
    tables.executeSql(create(name, "k STRING, n STRING", options, "json"));
  }

  private String create(String name, String columns, String options, String format) {
    return "CREATE TABLE %s (%s) WITH ('connector' = 'firstseen', %s, 'table.connector' = 'filesystem', 'table.path' = '%s', 'table.format' = '%s')"
        .formatted(name, columns, options, directory.resolve(name), format);
  }

  private String plain(String name, String columns) {
    return "CREATE TABLE %s (%s) WITH ('connector' = 'filesystem', 'path' = '%s', 'format' = 'json')"
        .formatted(name, columns, directory.resolve(name));
  }
}
