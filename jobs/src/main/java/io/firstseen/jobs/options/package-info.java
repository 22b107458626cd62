/**
 * The options of the jobs, as picocli reads them: one class for each group, each with its bounds,
 * and how values are written.
 */
package io.firstseen.jobs.options;
