/** Placeholder. */
package io.firstseen.filters;
