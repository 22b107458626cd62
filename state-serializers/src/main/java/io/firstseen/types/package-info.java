/**
 * Values and parameters in plain Java: operations, modes, times to live, and the values in the
 * operators' state. They depend neither on Flink nor on their serializers.
 *
 * <p>All types are immutable by contract: an array must not be changed after it was passed to a
 * constructor. Flink can therefore forward instances without copying them.
 */
package io.firstseen.types;
