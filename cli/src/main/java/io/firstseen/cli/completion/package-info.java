/** The command {@code completion}. */
package io.firstseen.cli.completion;
