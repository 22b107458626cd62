/** The verb {@code up}: everything as processes on this machine. */
package io.firstseen.cli.up;
