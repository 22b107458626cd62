/** What it costs to ask lists for URLs, and whether they answer as they promise. */
package io.firstseen.benchmarks.lists;
