/**
 * What verbs of several packages use: exit codes, input files, progress lines, summaries, options.
 */
package io.firstseen.cli.shared;
