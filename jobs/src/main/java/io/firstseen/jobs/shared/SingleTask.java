package io.firstseen.jobs.shared;

/** A sink that must run in a single task, because it writes one file or one ordered stream. */
public interface SingleTask {}
