/**
 * Hand-written serializers for all data that Firstseen keeps in Flink state or sends between
 * operators, and the types of streams, such as {@link io.firstseen.serializers.Change}. Each
 * serializer is one class that also contains its versioned snapshot and the factory by which Flink
 * finds it.
 *
 * <p>A type of a stream names that factory in its {@code @TypeInfo}, so it is in the same package
 * as its serializer. This is the serializers' package, because savepoints contain the class names
 * of serializers. Like the types in {@link io.firstseen.types}, the types of streams are immutable
 * by contract.
 */
package io.firstseen.serializers;
