/**
 * The data that travels between Firstseen's operators.
 *
 * <p>All of it is immutable by promise: nobody writes to an array after handing it over. Flink can
 * therefore pass instances on without copying them.
 */
package io.firstseen.types;
