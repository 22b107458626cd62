-- Clicks on a topic: the first click on each URL and the duplicates go to two topics. A first click
-- has the entry of the list that lists its URL, or NULL.
SET 'execution.checkpointing.interval' = '10s';

SET 'firstseen.snapshots.bootstrap-servers' = 'localhost:9092';

CREATE FUNCTION SNAPSHOT_MATCH AS 'io.firstseen.sql.SnapshotMatch';

CREATE TABLE clicks (
  url STRING,
  visitor STRING,
  outcome STRING METADATA VIRTUAL
) WITH (
  'connector' = 'firstseen',
  'key' = 'url',
  'canonicaliser' = 'url',
  'emit' = 'all',
  'table.connector' = 'kafka',
  'table.topic' = 'clicks',
  'table.properties.bootstrap.servers' = 'localhost:9092',
  'table.scan.startup.mode' = 'earliest-offset',
  'table.format' = 'json'
);

CREATE TABLE new_clicks (
  url STRING,
  visitor STRING,
  entry STRING
) WITH (
  'connector' = 'kafka',
  'topic' = 'new-clicks',
  'properties.bootstrap.servers' = 'localhost:9092',
  'properties.transaction.timeout.ms' = '900000',
  'sink.delivery-guarantee' = 'exactly-once',
  'sink.transactional-id-prefix' = 'new-clicks',
  'format' = 'json'
);

CREATE TABLE repeated_clicks (
  url STRING,
  visitor STRING
) WITH (
  'connector' = 'kafka',
  'topic' = 'repeated-clicks',
  'properties.bootstrap.servers' = 'localhost:9092',
  'properties.transaction.timeout.ms' = '900000',
  'sink.delivery-guarantee' = 'exactly-once',
  'sink.transactional-id-prefix' = 'repeated-clicks',
  'format' = 'json'
);

EXECUTE STATEMENT SET BEGIN
  INSERT INTO new_clicks
    SELECT url, visitor, SNAPSHOT_MATCH('blocked', url, 'allowed') FROM clicks
    WHERE outcome = 'accepted';
  INSERT INTO repeated_clicks SELECT url, visitor FROM clicks WHERE outcome = 'duplicate';
END;
