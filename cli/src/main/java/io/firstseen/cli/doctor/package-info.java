/** The verb {@code doctor}: whether this machine and the brokers have what is needed. */
package io.firstseen.cli.doctor;
