/**
 * Shared by the verbs of several packages: exit codes, input files, progress lines, summaries,
 * options.
 */
package io.firstseen.cli.shared;
