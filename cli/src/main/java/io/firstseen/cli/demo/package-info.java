/** The command {@code demo}: the whole pipeline in this JVM, compared with an exact model. */
package io.firstseen.cli.demo;
