/** The verb {@code report membership}: exact sets and filters on the same keys. */
package io.firstseen.cli.report;
