/** Firstseen in Flink SQL: the connector {@code firstseen} and the function SNAPSHOT_CONTAINS. */
package io.firstseen.sql;
