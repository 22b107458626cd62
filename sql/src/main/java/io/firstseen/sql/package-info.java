/** Firstseen in Flink SQL: the connector {@code firstseen} and functions that query snapshots. */
package io.firstseen.sql;
