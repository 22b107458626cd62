package io.firstseen.faults;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;

/**
 * What the process of a consumer does; its argument, in JSON.
 *
 * @param stream the events
 * @param brokers where the snapshots are
 * @param hashKeyFile with the hash key
 * @param cacheDirectory of the client
 * @param answers the file for the answers
 */
record ConsumerSpec<S>(
    S stream, String brokers, String hashKeyFile, String cacheDirectory, String answers) {

  static <S> ConsumerSpec<S> read(String json, Class<S> stream) throws IOException {
    ObjectMapper mapper = new ObjectMapper();
    return mapper.readValue(
        json, mapper.getTypeFactory().constructParametricType(ConsumerSpec.class, stream));
  }
}
