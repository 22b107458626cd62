/** Placeholder. */
package io.firstseen.cli;
