/**
 * The identity of a key: canonical form, scope, keyed 64-bit hash, shard. Everything that a
 * producer and a consumer must agree on before they look at a filter.
 */
package io.firstseen.filters.key;
