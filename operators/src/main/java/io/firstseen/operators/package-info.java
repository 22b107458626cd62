/** Placeholder. */
package io.firstseen.operators;
