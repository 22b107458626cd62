/**
 * Golomb-coded sets: immutable sorted sets of integers near the information-theoretic minimum of
 * space, queried without unpacking. This package does not depend on files or on how keys are
 * hashed.
 */
package io.firstseen.filters.gcs;
