package io.firstseen.serializers;

import io.firstseen.filters.near.NearRule;
import io.firstseen.types.DedupMode;
import io.firstseen.types.DedupParameters;
import io.firstseen.types.TimeToLive;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes {@link DedupParameters}.
 *
 * <p>Version 5: the fields in their order, with numbers in 4 bytes (the key check in 8), texts
 * after their length, and the mode as the text of its id. Then the length of the ttl in 8 bytes and
 * the ids of its clock and since; if there is no ttl, only a length of 0. Then the audit in 4
 * bytes, the text of the stripped parameters, and the text of the rule for near-duplicates.
 * Versions 1 to 4 can be read. They have no rule for near-duplicates; versions 1 to 3 have no
 * stripped parameters; versions 1 and 2 have no ttl and no audit; version 1 has no mode, which
 * means approximate.
 */
public final class DedupParametersSerializer extends ImmutableSerializer<DedupParameters> {
  public static final DedupParametersSerializer INSTANCE = new DedupParametersSerializer();

  private static final long serialVersionUID = 1;

  private static final int VERSION = 5;

  @Override
  public void serialize(DedupParameters parameters, DataOutputView out) throws IOException {
    out.writeInt(parameters.identityBits());
    out.writeInt(parameters.shardCount());
    ByteFields.writeString(parameters.hashAlgorithm(), out);
    out.writeLong(parameters.keyCheck());
    ByteFields.writeString(parameters.canonicaliser(), out);
    out.writeInt(parameters.canonicaliserVersion());
    ByteFields.writeString(parameters.mode().id(), out);
    TimeToLive ttl = parameters.ttl();
    out.writeLong(ttl == null ? 0 : ttl.millis());
    if (ttl != null) {
      ByteFields.writeString(ttl.clock().id(), out);
      ByteFields.writeString(ttl.since().id(), out);
    }
    out.writeInt(parameters.auditSlices());
    ByteFields.writeString(parameters.strippedParameters(), out);
    ByteFields.writeString(parameters.near(), out);
  }

  @Override
  public DedupParameters deserialize(DataInputView in) throws IOException {
    return read(in, VERSION);
  }

  private static DedupParameters read(DataInputView in, int version) throws IOException {
    int identityBits = in.readInt();
    int shardCount = in.readInt();
    String hashAlgorithm = ByteFields.readString(in);
    long keyCheck = in.readLong();
    String canonicaliser = ByteFields.readString(in);
    int canonicaliserVersion = in.readInt();
    DedupMode mode = version < 2 ? DedupMode.APPROXIMATE : readMode(in);
    TimeToLive ttl = version < 3 ? null : readTtl(in);
    int auditSlices = version < 3 ? 0 : in.readInt();
    String strippedParameters = version < 4 ? "" : ByteFields.readString(in);
    String near = version < 5 ? "" : requireRule(ByteFields.readString(in));
    return ByteFields.checked(
        () ->
            new DedupParameters(
                identityBits,
                shardCount,
                hashAlgorithm,
                keyCheck,
                canonicaliser,
                canonicaliserVersion,
                mode,
                ttl,
                auditSlices,
                strippedParameters,
                near));
  }

  private static DedupMode readMode(DataInputView in) throws IOException {
    String id = ByteFields.readString(in);
    return ByteFields.checked(() -> DedupMode.of(id));
  }

  private static TimeToLive readTtl(DataInputView in) throws IOException {
    long millis = in.readLong();
    if (millis == 0) {
      return null;
    }
    String clock = ByteFields.readString(in);
    String since = ByteFields.readString(in);
    return ByteFields.checked(
        () -> new TimeToLive(millis, TimeToLive.Clock.of(clock), TimeToLive.Since.of(since)));
  }

  private static String requireRule(String near) throws IOException {
    try {
      var unused = near.isEmpty() ? null : NearRule.of(near);
      return near;
    } catch (IllegalArgumentException e) {
      throw new IOException("unknown rule for near-duplicates in state: " + e.getMessage(), e);
    }
  }

  @Override
  public TypeSerializerSnapshot<DedupParameters> snapshotConfiguration() {
    return new Snapshot();
  }

  /** The format version in state. */
  public static final class Snapshot extends VersionedSerializerSnapshot<DedupParameters> {
    public Snapshot() {
      super(VERSION, version -> version == VERSION ? INSTANCE : new Earlier(version));
    }
  }

  private static final class Earlier extends ImmutableSerializer<DedupParameters> {
    private static final long serialVersionUID = 1;

    private final int version;

    Earlier(int version) {
      this.version = version;
    }

    @Override
    public void serialize(DedupParameters parameters, DataOutputView out) {
      throw new IllegalStateException("no state is written in format version " + version);
    }

    @Override
    public DedupParameters deserialize(DataInputView in) throws IOException {
      return read(in, version);
    }

    @Override
    public TypeSerializerSnapshot<DedupParameters> snapshotConfiguration() {
      return new Snapshot();
    }
  }
}
