/** What the client of a snapshots topic costs. */
package io.firstseen.benchmarks.consumer;
