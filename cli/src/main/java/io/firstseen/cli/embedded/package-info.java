/** A Kafka broker and a Flink cluster inside this JVM, for the demo, for files and for tests. */
package io.firstseen.cli.embedded;
