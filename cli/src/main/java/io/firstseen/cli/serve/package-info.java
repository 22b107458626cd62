/** The verb {@code serve}: sets over HTTP. */
package io.firstseen.cli.serve;
