/** Pictures of figures. */
package io.firstseen.cli.plot;
