/** The command {@code serve}: serves sets over HTTP. */
package io.firstseen.cli.serve;
