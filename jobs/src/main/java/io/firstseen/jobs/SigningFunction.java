package io.firstseen.jobs;

import io.firstseen.filters.snapshot.Manifest;
import io.firstseen.filters.snapshot.SigningKey;
import io.firstseen.jobs.shared.KeyFiles;
import io.firstseen.serializers.SnapshotRecord;
import java.io.IOException;
import java.nio.file.Path;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;

/** Signs manifests. The task reads the key from its file; the job graph holds only the path. */
final class SigningFunction extends RichMapFunction<SnapshotRecord, SnapshotRecord> {
  private static final long serialVersionUID = 1;

  private final String keyFile;
  private transient SigningKey key;

  SigningFunction(Path keyFile) {
    this.keyFile = keyFile.toAbsolutePath().toString();
  }

  @Override
  public void open(OpenContext context) {
    key = KeyFiles.signingKey(Path.of(keyFile));
  }

  @Override
  public SnapshotRecord map(SnapshotRecord record) throws IOException {
    if (record.kind() != SnapshotRecord.Kind.MANIFEST) {
      return record;
    }
    Manifest signed = key.sign(Manifest.read(record.value()));
    return new SnapshotRecord(record.kind(), record.key(), signed.toBytes());
  }
}
