package io.firstseen.serializers;

import io.firstseen.filters.snapshot.BlobReference;
import java.io.IOException;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * The fields of a blob reference: digest, set digest and parent set digest (empty for a snapshot),
 * each after its length; then bytes, count and sequence in 8 bytes each.
 */
final class BlobReferenceFields {

  private BlobReferenceFields() {}

  static void write(BlobReference reference, DataOutputView out) throws IOException {
    ByteFields.writeString(reference.digest(), out);
    ByteFields.writeString(reference.setDigest(), out);
    ByteFields.writeString(reference.isDelta() ? reference.parentSetDigest() : "", out);
    out.writeLong(reference.bytes());
    out.writeLong(reference.count());
    out.writeLong(reference.sequence());
  }

  static BlobReference read(DataInputView in) throws IOException {
    String digest = ByteFields.readString(in);
    String setDigest = ByteFields.readString(in);
    String parentSetDigest = ByteFields.readString(in);
    long bytes = in.readLong();
    long count = in.readLong();
    return new BlobReference(
        digest,
        bytes,
        count,
        setDigest,
        parentSetDigest.isEmpty() ? null : parentSetDigest,
        in.readLong());
  }
}
