/** What it costs to follow a set: bytes on a topic and in blobs. */
package io.firstseen.benchmarks.snapshot;
