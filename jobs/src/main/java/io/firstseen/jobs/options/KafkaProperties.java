package io.firstseen.jobs.options;

import static io.firstseen.jobs.options.OptionValues.reject;

import io.firstseen.filters.key.SecretFiles;
import io.firstseen.operators.UserErrorException;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Pattern;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The settings of Kafka clients, from a file and from options: a mixin, or a group. */
public final class KafkaProperties {

  /** Settings that are secrets and must not appear on a command line. */
  private static final Pattern SECRET =
      Pattern.compile(
          "(.*\\.)?(sasl\\.jaas\\.config|ssl\\.keystore\\.key)|.*(password|passphrase|secret).*");

  /** The timeouts after which a client gives up a request or a connection. */
  private static final List<String> TIMEOUTS =
      List.of(
          CommonClientConfigs.REQUEST_TIMEOUT_MS_CONFIG,
          CommonClientConfigs.DEFAULT_API_TIMEOUT_MS_CONFIG,
          CommonClientConfigs.SOCKET_CONNECTION_SETUP_TIMEOUT_MS_CONFIG,
          CommonClientConfigs.CONNECTIONS_MAX_IDLE_MS_CONFIG,
          ProducerConfig.MAX_BLOCK_MS_CONFIG,
          ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG);

  /**
   * Settings that a job sets itself. A different partitioner would write the tombstone of a key to
   * a different partition from its record; offsets that are committed before a checkpoint are
   * skipped by {@code --start committed}.
   */
  private static final List<String> OWN =
      List.of(
          ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
          ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG,
          ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG,
          ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG,
          ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG,
          ProducerConfig.PARTITIONER_CLASS_CONFIG,
          ProducerConfig.PARTITIONER_IGNORE_KEYS_CONFIG,
          ProducerConfig.TRANSACTIONAL_ID_CONFIG);

  private static final int MIN_TIMEOUT_MILLIS = 1_000;

  @Option(
      names = "--kafka-properties",
      paramLabel = "FILE",
      description =
          "Properties file with settings of all Kafka clients, such as sasl.jaas.config. Keeps "
              + "secrets off the command line.")
  @Bound(Bound.By.NOTHING)
  private @Nullable Path file;

  @Option(
      names = "--kafka-property",
      paramLabel = "NAME=VALUE",
      description =
          "Setting of all Kafka clients, such as security.protocol=SSL; may be repeated, and "
              + "overrides the setting in --kafka-properties. Not for secrets.")
  @Bound(Bound.By.NOTHING)
  private Map<String, String> single = new LinkedHashMap<>();

  /**
   * All settings; the option overrides the file. The file is a Java properties file in UTF-8. Logs
   * a warning if users other than its owner may read or change the file.
   *
   * @throws UserErrorException if the file cannot be read, or an option holds a secret
   */
  public Map<String, String> read() {
    Map<String, String> all = new LinkedHashMap<>();
    if (file != null) {
      SecretFiles.warnIfAccessible(file);
      Properties ofFile = new Properties();
      try {
        // A byte order mark would be a part of the first name.
        ofFile.load(new StringReader(Files.readString(file).replaceFirst("^\uFEFF", "")));
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
      reject(
          SECRET.matcher(name.toLowerCase(Locale.ROOT)).matches(),
          "--kafka-property must not contain a secret, because other users of this machine can read command lines: put %s into the file of --kafka-properties"
              .formatted(name));
    }
    all.putAll(single);
    return all;
  }

  /** Rejects settings that Kafka's clients would reject, or with which a job cannot write. */
  void check(String bootstrapServers) {
    Map<String, Object> settings = new HashMap<>(read());
    for (String name : OWN) {
      reject(
          settings.containsKey(name),
          "--kafka-property or --kafka-properties: %s must not be set, because the job sets it, got %s"
              .formatted(name, settings.get(name)));
    }
    settings.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    settings.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
    settings.put(ProducerConfig.KEY_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    settings.put(ProducerConfig.VALUE_SERIALIZER_CLASS_CONFIG, ByteArraySerializer.class);
    settings.put(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
    try {
      Map<String, Object> valid = new HashMap<>(ConsumerConfig.configDef().parse(settings));
      ProducerConfig.configDef().parse(settings).forEach(valid::putIfAbsent);
      AdminClientConfig.configDef().parse(settings);
      // Settings that are valid individually but not with transactions.
      settings.put(ProducerConfig.TRANSACTIONAL_ID_CONFIG, "checked");
      settings.put(ProducerConfig.TRANSACTION_TIMEOUT_CONFIG, 60_000);
      settings.putIfAbsent(ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, true);
      ProducerConfig producer = new ProducerConfig(settings);
      checkDeliveryTimeout(producer);
      // A job whose record is too large for its producer fails after every restart.
      requireAtLeast(
          ProducerConfig.MAX_REQUEST_SIZE_CONFIG,
          KafkaOptions.MAX_WRITTEN_BYTES,
          Integer.toString(KafkaOptions.MAX_WRITTEN_BYTES),
          producer.getInt(ProducerConfig.MAX_REQUEST_SIZE_CONFIG));
      // A client that gives up before a broker can respond fails at every attempt.
      String bound = MIN_TIMEOUT_MILLIS + ", so that a broker can respond in time";
      TIMEOUTS.forEach(name -> requireAtLeast(name, MIN_TIMEOUT_MILLIS, bound, valid.get(name)));
    } catch (ConfigException e) {
      throw new UserErrorException("--kafka-property or --kafka-properties: " + e.getMessage());
    }
  }

  /** The producer rejects this setting only when it starts, in the cluster, after every restart. */
  private static void checkDeliveryTimeout(ProducerConfig producer) {
    if (producer.originals().containsKey(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG)) {
      String linger = ProducerConfig.LINGER_MS_CONFIG;
      String request = ProducerConfig.REQUEST_TIMEOUT_MS_CONFIG;
      long leastMillis = producer.getLong(linger) + producer.getInt(request);
      requireAtLeast(
          ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG,
          leastMillis,
          "%s and %s together, %d".formatted(linger, request, leastMillis),
          producer.getInt(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG));
    }
  }

  private static void requireAtLeast(String name, long least, String bound, Object value) {
    if (((Number) value).longValue() < least) {
      throw new ConfigException("%s must be at least %s, got %s".formatted(name, bound, value));
    }
  }
}
