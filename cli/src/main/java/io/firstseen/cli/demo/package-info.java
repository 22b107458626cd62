/** The verb {@code demo}: the whole pipeline in this JVM, held against an exact model. */
package io.firstseen.cli.demo;
