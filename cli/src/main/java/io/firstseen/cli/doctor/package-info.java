/** The command {@code doctor}: checks whether this machine and the brokers are ready for a job. */
package io.firstseen.cli.doctor;
