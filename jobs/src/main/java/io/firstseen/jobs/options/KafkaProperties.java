package io.firstseen.jobs.options;

import io.firstseen.jobs.shared.UserErrorException;
import java.io.IOException;
import java.io.Reader;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/** Settings of Kafka clients from a file and from options. */
public final class KafkaProperties {

  private KafkaProperties() {}

  /**
   * All settings; one that is given twice has the option's value.
   *
   * @param file of {@code --kafka-properties}, in Java's format of properties, UTF-8; null for none
   * @param single those of {@code --kafka-property}
   * @throws UserErrorException if the file cannot be read
   */
  public static Map<String, String> of(@Nullable Path file, Map<String, String> single) {
    Map<String, String> all = new LinkedHashMap<>();
    if (file != null) {
      Properties ofFile = new Properties();
      try (Reader reader = Files.newBufferedReader(file)) {
        ofFile.load(reader);
      } catch (CharacterCodingException e) {
        throw new UserErrorException("--kafka-properties: " + file + " is not UTF-8");
      } catch (IOException e) {
        throw UserErrorException.cannot("read", file, e);
      } catch (IllegalArgumentException e) {
        throw new UserErrorException("--kafka-properties: " + file + ": " + e.getMessage());
      }
      ofFile.stringPropertyNames().forEach(name -> all.put(name, ofFile.getProperty(name)));
    }
    all.putAll(single);
    return all;
  }
}
