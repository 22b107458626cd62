/**
 * The steps from a key to its hash: canonical form, scope, keyed 64-bit hash, shard. Producer and
 * consumer must agree on all of this before they use a filter.
 */
package io.firstseen.filters.key;
