package io.firstseen.jobs;

/** A sink that must run as one task, because it writes one file or one ordered stream. */
public interface SingleTask {}
