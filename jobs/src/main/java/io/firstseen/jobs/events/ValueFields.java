package io.firstseen.jobs.events;

import java.io.Serializable;

/** Decodes values of one format, and extracts fields. */
interface ValueFields extends Serializable {

  /**
   * Returns the values of all fields, in the order of {@link
   * io.firstseen.jobs.shared.EventFields#all()}.
   *
   * @throws MalformedEventException if the bytes are not a value of the format
   */
  FieldValue[] read(byte[] value) throws MalformedEventException;
}
