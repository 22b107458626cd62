/** The {@code firstseen} command: one class a verb. */
package io.firstseen.cli;
