/** The command {@code report membership}: compares exact sets and filters on the same keys. */
package io.firstseen.cli.report;
