package io.firstseen.serializers;

import io.firstseen.filters.gcs.Universe;
import java.io.IOException;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** Writes a {@link Universe}: buckets and width, in 8 bytes each. */
final class UniverseFields {

  private UniverseFields() {}

  static void write(Universe universe, DataOutputView out) throws IOException {
    out.writeLong(universe.buckets());
    out.writeLong(universe.width());
  }

  static Universe read(DataInputView in) throws IOException {
    long buckets = in.readLong();
    long width = in.readLong();
    try {
      return new Universe(buckets, width);
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
  }
}
