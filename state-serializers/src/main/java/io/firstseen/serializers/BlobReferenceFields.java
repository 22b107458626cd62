package io.firstseen.serializers;

import io.firstseen.filters.snapshot.BlobReference;
import java.io.IOException;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/** The fields of a blob reference: the digest after its length; then the bytes in 8 bytes. */
final class BlobReferenceFields {

  private BlobReferenceFields() {}

  static void write(BlobReference reference, DataOutputView out) throws IOException {
    ByteFields.writeString(reference.digest(), out);
    out.writeLong(reference.bytes());
  }

  static BlobReference read(DataInputView in) throws IOException {
    String digest = ByteFields.readString(in);
    long bytes = in.readLong();
    try {
      return new BlobReference(digest, bytes);
    } catch (IllegalArgumentException e) {
      throw new IOException(e.getMessage(), e);
    }
  }
}
