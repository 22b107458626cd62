/** The command {@code size}: calculates the resources of a dedup job. */
package io.firstseen.cli.size;
