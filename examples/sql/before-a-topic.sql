-- A dedup in front of a topic: whatever the query gives, each visitor is written once.
SET 'execution.checkpointing.interval' = '10s';

CREATE TABLE clicks (
  url STRING,
  visitor STRING
) WITH (
  'connector' = 'filesystem',
  'path' = 'examples/sql/clicks.json',
  'format' = 'json'
);

CREATE TABLE visitors (
  visitor STRING
) WITH (
  'connector' = 'firstseen',
  'key' = 'visitor',
  'mode' = 'exact',
  'table.connector' = 'kafka',
  'table.topic' = 'visitors',
  'table.properties.bootstrap.servers' = 'localhost:9092',
  'table.properties.transaction.timeout.ms' = '900000',
  'table.sink.delivery-guarantee' = 'exactly-once',
  'table.sink.transactional-id-prefix' = 'visitors',
  'table.format' = 'json'
);

INSERT INTO visitors SELECT UPPER(visitor) FROM clicks WHERE url IS NOT NULL;
