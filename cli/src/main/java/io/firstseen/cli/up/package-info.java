/** The command {@code up}: runs the whole pipeline as processes on this machine. */
package io.firstseen.cli.up;
