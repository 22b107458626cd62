/** Near-duplicate texts by MinHash signatures and bands. */
package io.firstseen.filters.near;
