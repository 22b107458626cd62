/** Holds what {@code firstseen size} says against measured runs. */
package io.firstseen.benchmarks.sizing;
