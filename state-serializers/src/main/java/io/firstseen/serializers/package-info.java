/**
 * Hand-written serializers for everything that Firstseen keeps in Flink state or sends between
 * operators, and the types of streams, such as {@link io.firstseen.serializers.Change}. Each
 * serializer is one class that also carries its versioned snapshot and the factory by which Flink
 * finds it.
 *
 * <p>A type of a stream names that factory in its {@code @TypeInfo}, so it stands beside its
 * serializer. It came here, and not the serializer to it, because savepoints hold the class names
 * of serializers. Like {@link io.firstseen.types}, the types of streams are immutable by promise.
 */
package io.firstseen.serializers;
