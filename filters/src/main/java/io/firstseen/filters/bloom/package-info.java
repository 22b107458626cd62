/**
 * The classic Bloom filter: no deletions, smaller than a cuckoo filter at high rates, and mergeable
 * by a bitwise or.
 */
package io.firstseen.filters.bloom;
