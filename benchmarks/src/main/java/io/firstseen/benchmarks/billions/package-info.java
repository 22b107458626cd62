/** How far one small machine goes: a dedup of billions of keys. */
package io.firstseen.benchmarks.billions;
