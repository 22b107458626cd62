package io.firstseen.cli.report;

import java.util.function.DoubleSupplier;
import java.util.function.LongSupplier;
import java.util.function.ToIntFunction;

/**
 * A filled set of one of the compared kinds, which contains all keys.
 *
 * @param <K> an array of query arguments: keys, or hashes of keys
 * @param claimed counts the probes for which the set returns present; a separate loop for each
 *     kind, because the JIT would compile a shared loop for the mix of kinds, which would slow down
 *     each of them
 * @param sizeBytes the size of the whole set in bytes
 * @param predictedFalsePositiveRate the probability, in [0, 1], that the set returns present for an
 *     absent key
 */
record ComparedSet<K>(
    ToIntFunction<K> claimed, LongSupplier sizeBytes, DoubleSupplier predictedFalsePositiveRate) {}
