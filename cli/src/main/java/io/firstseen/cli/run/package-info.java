/** The command {@code run}: the pipeline on a file. */
package io.firstseen.cli.run;
