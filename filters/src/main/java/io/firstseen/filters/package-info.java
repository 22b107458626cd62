/** The common interface of all approximate sets of keys in this project. */
package io.firstseen.filters;
