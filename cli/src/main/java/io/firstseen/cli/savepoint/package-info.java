/** The commands for savepoints: {@code bootstrap} writes one, {@code savepoint info} reads it. */
package io.firstseen.cli.savepoint;
