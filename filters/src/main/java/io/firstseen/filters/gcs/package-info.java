/**
 * Golomb-coded sets: immutable sorted sets of integers near the information-theoretic minimum of
 * space, queried without unpacking. Knows nothing of keys, hashes or files.
 */
package io.firstseen.filters.gcs;
