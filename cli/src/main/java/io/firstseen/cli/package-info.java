/** The {@code firstseen} command; its verbs are in the packages below. */
package io.firstseen.cli;
