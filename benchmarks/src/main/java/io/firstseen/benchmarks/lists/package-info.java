/** Measures the cost of looking up URLs in lists, and checks their rates. */
package io.firstseen.benchmarks.lists;
