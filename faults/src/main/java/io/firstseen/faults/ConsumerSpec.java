package io.firstseen.faults;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.firstseen.consumer.SnapshotClient;
import io.firstseen.consumer.SnapshotClientOptions;
import io.firstseen.consumer.SnapshotListener;
import io.firstseen.filters.key.KeyHash;
import java.io.IOException;
import java.nio.file.Path;

/**
 * What the process of a consumer does; its argument, in JSON.
 *
 * @param stream the events
 * @param brokers where the snapshots are
 * @param answers the file for the answers
 */
record ConsumerSpec<S>(
    S stream, String brokers, Path hashKeyFile, Path cacheDirectory, Path answers) {

  static <S> ConsumerSpec<S> read(String json, Class<S> stream) throws IOException {
    ObjectMapper mapper = new ObjectMapper();
    return mapper.readValue(
        json, mapper.getTypeFactory().constructParametricType(ConsumerSpec.class, stream));
  }

  SnapshotClient start(SnapshotListener listener) throws Exception {
    return SnapshotClient.start(
        SnapshotClientOptions.builder(brokers, Pipeline.SET)
            .keyHash(KeyHash.fromFile(hashKeyFile))
            .cacheDirectory(cacheDirectory)
            .listener(listener)
            .build());
  }
}
