/** Placeholder. */
package io.firstseen.jobs;
