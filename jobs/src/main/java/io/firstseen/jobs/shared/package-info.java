/** What several packages of the jobs use; it knows none of them. */
package io.firstseen.jobs.shared;
