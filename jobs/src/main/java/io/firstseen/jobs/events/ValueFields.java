package io.firstseen.jobs.events;

import java.io.Serializable;

/** Decodes values of one format, and finds fields in them. */
interface ValueFields extends Serializable {

  /**
   * The values of all fields, in the order of {@link io.firstseen.jobs.shared.EventFields#all()}.
   *
   * @throws MalformedEventException if the bytes are no value of the format
   */
  FieldValue[] read(byte[] value) throws MalformedEventException;
}
