/**
 * The dedup as a user has it, on a real mini cluster with real files: savepoints, checkpoints,
 * failures, other backends, other parallelisms. Nothing here reaches into the operator.
 */
package io.firstseen.operators.restores;
