/** The verb {@code completion}. */
package io.firstseen.cli.completion;
