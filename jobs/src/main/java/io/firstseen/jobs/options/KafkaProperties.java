package io.firstseen.jobs.options;

import io.firstseen.filters.key.SecretFiles;
import io.firstseen.operators.UserErrorException;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The settings of Kafka clients, from a file and from options: a mixin, or a group. */
public final class KafkaProperties {

  /** Settings that are secrets: a command line is no place for them. */
  private static final Pattern SECRET =
      Pattern.compile(
          "(.*\\.)?(sasl\\.jaas\\.config|ssl\\.keystore\\.key)|.*(password|passphrase|secret).*");

  @Option(
      names = "--kafka-properties",
      paramLabel = "FILE",
      description =
          "A properties file with settings of all Kafka clients, such as sasl.jaas.config, so that"
              + " no secret stands on a command line.")
  private @Nullable Path file;

  @Option(
      names = "--kafka-property",
      paramLabel = "NAME=VALUE",
      description =
          "A setting of all Kafka clients, such as security.protocol=SSL; may be repeated, and"
              + " overrides that of the file. Not for secrets.")
  private Map<String, String> single = new LinkedHashMap<>();

  /**
   * All settings; one that is given twice has the option's value. The file is in Java's format of
   * properties, in UTF-8. Logs a warning if users other than its owner may read or change the file.
   *
   * @throws UserErrorException if the file cannot be read, or an option holds a secret
   */
  public Map<String, String> read() {
    Map<String, String> all = new LinkedHashMap<>();
    if (file != null) {
      SecretFiles.warnOfRights(file);
      Properties ofFile = new Properties();
      try (BufferedReader reader = Files.newBufferedReader(file)) {
        // A byte order mark would be a part of the first name.
        reader.mark(1);
        if (reader.read() != '\uFEFF') {
          reader.reset();
        }
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
    for (String name : single.keySet()) {
      if (SECRET.matcher(name.toLowerCase(Locale.ROOT)).matches()) {
        throw new UserErrorException(
            "--kafka-property must not hold a secret, which others on this machine can read there:"
                + " put %s into the file of --kafka-properties".formatted(name));
      }
    }
    all.putAll(single);
    return all;
  }
}
