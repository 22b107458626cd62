/**
 * Runs the pipeline as processes, breaks them by a seeded schedule, and holds all that comes out
 * against an exact model.
 */
package io.firstseen.faults;
