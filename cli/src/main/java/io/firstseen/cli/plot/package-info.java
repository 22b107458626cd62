/** Plots. */
package io.firstseen.cli.plot;
