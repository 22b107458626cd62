/** Placeholder. */
package io.firstseen.serializers;
