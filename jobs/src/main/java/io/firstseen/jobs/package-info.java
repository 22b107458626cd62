/**
 * The jobs that a Flink cluster runs. {@code main} methods only wire; everything else happens in
 * {@code build}, which tests and the command call too.
 */
package io.firstseen.jobs;
