/** Events from files and outcomes to files. */
package io.firstseen.jobs.files;
