/** The live keys of a task: approximate, exact or audited sets in pages, and how keys expire. */
package io.firstseen.operators.dedup.live;
