/** The pages of a task's filters, on the heap or in a cache in front of Flink's state. */
package io.firstseen.operators.dedup.pages;
