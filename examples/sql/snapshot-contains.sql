-- Which clicks are of a listed URL, by the newest snapshot of a set.
SET 'firstseen.snapshots.bootstrap-servers' = 'localhost:9092';

CREATE FUNCTION SNAPSHOT_CONTAINS AS 'io.firstseen.sql.SnapshotContains';

CREATE TABLE clicks (
  url STRING,
  visitor STRING
) WITH (
  'connector' = 'filesystem',
  'path' = 'examples/sql/clicks.json',
  'format' = 'json'
);

CREATE TABLE listed (
  url STRING,
  visitor STRING
) WITH (
  'connector' = 'filesystem',
  'path' = 'listed',
  'format' = 'json'
);

INSERT INTO listed SELECT url, visitor FROM clicks WHERE SNAPSHOT_CONTAINS('firstseen', url);
