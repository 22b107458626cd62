/**
 * Hand-written serializers for everything that Firstseen keeps in Flink state or sends between
 * operators. Each serializer is one class that also carries its versioned snapshot and the factory
 * by which Flink finds it.
 */
package io.firstseen.serializers;
