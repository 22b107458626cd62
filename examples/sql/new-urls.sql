-- Which URLs come for the first time: only these rows come out of the table.
-- The client waits for the end of the job.
SET 'table.dml-sync' = 'true';

CREATE TABLE new_clicks (
  url STRING,
  visitor STRING,
  `at` TIMESTAMP(3),
  WATERMARK FOR `at` AS `at` - INTERVAL '5' SECOND
) WITH (
  'connector' = 'firstseen',
  'key' = 'url',
  'canonicaliser' = 'url',
  'capacity' = '100000000',
  'fpr' = '0.001',
  'uid' = 'clicks',
  -- The table behind it: any connector, with its options.
  'table.connector' = 'filesystem',
  'table.path' = 'examples/sql/clicks.json',
  'table.format' = 'json'
);

CREATE TABLE first_visits (
  url STRING,
  visitor STRING
) WITH (
  'connector' = 'filesystem',
  'path' = 'first-visits',
  'format' = 'json'
);

INSERT INTO first_visits SELECT url, visitor FROM new_clicks;
