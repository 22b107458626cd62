/**
 * A Kafka broker and a Flink cluster in this JVM, for tests and demos; and JUnit extensions that
 * share them.
 */
package io.firstseen.testing;
