/**
 * The HTTP service against an empty handler of the same server, and against the JDK's own server:
 * {@link io.firstseen.benchmarks.serve.ServeFigures} is the command.
 */
package io.firstseen.benchmarks.serve;
