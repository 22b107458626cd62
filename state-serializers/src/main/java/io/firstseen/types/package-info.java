/**
 * Values and parameters in plain Java: operations, modes, times to live, and what the state of the
 * operators is made of. They know neither Flink nor their serializers.
 *
 * <p>All of it is immutable by promise: nobody writes to an array after handing it over. Flink can
 * therefore pass instances on without copying them.
 */
package io.firstseen.types;
