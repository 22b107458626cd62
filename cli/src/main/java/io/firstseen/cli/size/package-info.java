/** The verb {@code size}: what a dedup of so many keys at such a rate needs. */
package io.firstseen.cli.size;
