/** Exit codes, input files, progress lines, summaries and options of several commands. */
package io.firstseen.cli.shared;
