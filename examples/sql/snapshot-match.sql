-- Which clicks are of a URL on a list, and the entry that lists it, by the newest snapshots.
SET 'firstseen.snapshots.bootstrap-servers' = 'localhost:9092';

CREATE FUNCTION SNAPSHOT_MATCH AS 'io.firstseen.sql.SnapshotMatch';

CREATE TABLE clicks (
  url STRING,
  visitor STRING
) WITH (
  'connector' = 'filesystem',
  'path' = 'examples/sql/clicks.json',
  'format' = 'json'
);

CREATE TABLE blocked (
  url STRING,
  entry STRING
) WITH (
  'connector' = 'filesystem',
  'path' = 'blocked',
  'format' = 'json'
);

INSERT INTO blocked
SELECT url, entry FROM (SELECT url, SNAPSHOT_MATCH('blocked', url, 'allowed') AS entry FROM clicks)
WHERE entry IS NOT NULL;
