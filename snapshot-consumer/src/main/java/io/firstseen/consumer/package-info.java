/** Placeholder. */
package io.firstseen.consumer;
