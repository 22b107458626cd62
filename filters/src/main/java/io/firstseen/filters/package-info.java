/** What every approximate set of keys in this project has in common. */
package io.firstseen.filters;
