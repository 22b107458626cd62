/** The commands for snapshots, in files and on topics. */
package io.firstseen.cli.snapshot;
