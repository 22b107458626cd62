-- All clicks with their outcomes: the new ones and the duplicates in two directories.
CREATE TABLE all_clicks (
  url STRING,
  outcome STRING METADATA VIRTUAL,
  reason STRING METADATA VIRTUAL
) WITH (
  'connector' = 'firstseen',
  'key' = 'url',
  'canonicaliser' = 'url',
  'emit' = 'all',
  'table.connector' = 'filesystem',
  'table.path' = 'examples/sql/clicks.json',
  'table.format' = 'json'
);

CREATE TABLE accepted (
  url STRING
) WITH (
  'connector' = 'filesystem',
  'path' = 'accepted',
  'format' = 'json'
);

CREATE TABLE duplicates (
  url STRING
) WITH (
  'connector' = 'filesystem',
  'path' = 'duplicates',
  'format' = 'json'
);

EXECUTE STATEMENT SET BEGIN
  INSERT INTO accepted SELECT url FROM all_clicks WHERE outcome = 'accepted';
  INSERT INTO duplicates SELECT url FROM all_clicks WHERE outcome = 'duplicate';
END;
