package io.firstseen.jobs.options;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.firstseen.operators.UserErrorException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KafkaPropertiesTest {
  @TempDir private Path directory;

  private static Properties clients(String... words) {
    KafkaOptions options = KafkaOptions.parse(words);
    options.check();
    return options.clientProperties();
  }

  @Test
  void settingsOfTheFileAndOfOptionsAreTakenAndOptionsWin() throws Exception {
    Path file =
        Files.writeString(
            directory.resolve("client.properties"),
            """
            # ours
            security.protocol=SASL_SSL
            client.rack = ä
            bootstrap.servers=elsewhere:1
            """);
    Properties clients =
        clients(
            "--bootstrap-servers=here:9092",
            "--kafka-properties=" + file,
            "--kafka-property=security.protocol=SSL");
    assertThat(clients)
        .containsEntry("security.protocol", "SSL")
        .containsEntry("client.rack", "ä")
        .containsEntry("bootstrap.servers", "here:9092");
  }

  @Test
  void aByteOrderMarkIsNoPartOfAName() throws Exception {
    Path file = directory.resolve("client.properties");
    for (String text : List.of("security.protocol=SSL", "\uFEFFsecurity.protocol=SSL")) {
      Files.writeString(file, text);
      assertThat(clients("--bootstrap-servers=here:9092", "--kafka-properties=" + file))
          .containsEntry("security.protocol", "SSL");
    }
    Files.writeString(file, "");
    assertThat(clients("--bootstrap-servers=here:9092", "--kafka-properties=" + file))
        .containsEntry("bootstrap.servers", "here:9092");
  }

  @Test
  void everySecretThatKafkaKnowsIsRefused() {
    Set<String> secrets = new TreeSet<>();
    for (ConfigDef settings :
        List.of(
            ConsumerConfig.configDef(),
            ProducerConfig.configDef(),
            AdminClientConfig.configDef())) {
      settings.configKeys().values().stream()
          .filter(key -> key.type == ConfigDef.Type.PASSWORD)
          .forEach(key -> secrets.add(key.name));
    }
    // Kafka hides certificates in logs because they are long, but they are not secret.
    secrets.removeIf(name -> name.contains("certificate"));
    assertThat(secrets).contains("sasl.oauthbearer.assertion.private.key.passphrase");
    assertThat(secrets)
        .allSatisfy(
            name ->
                assertThatThrownBy(
                        () -> clients("--bootstrap-servers=h:1", "--kafka-property=" + name + "=x"))
                    .hasMessageContaining("must not contain a secret"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "sasl.jaas.config",
        "ssl.key.password",
        "ssl.keystore.key",
        "ssl.truststore.password",
        "sasl.oauthbearer.client.credentials.client.secret",
        "SSL.Keystore.Password",
        "listener.name.x.sasl.jaas.config"
      })
  void aSecretOnTheCommandLineIsRefusedAndNotRepeated(String name) {
    assertThatThrownBy(
            () -> clients("--bootstrap-servers=here:9092", "--kafka-property=" + name + "=hidden"))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("--kafka-property", "secret", name, "--kafka-properties");
  }

  @Test
  void aFileThatCannotBeUsedIsOneSentence() throws Exception {
    String servers = "--bootstrap-servers=here:9092";
    Path missing = directory.resolve("missing");
    assertThatThrownBy(() -> clients(servers, "--kafka-properties=" + missing))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll(missing.toString(), "no such file");
    Path latin = Files.write(directory.resolve("latin"), new byte[] {'a', '=', (byte) 0xE4});
    assertThatThrownBy(() -> clients(servers, "--kafka-properties=" + latin))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContainingAll("--kafka-properties", latin.toString(), "UTF-8");
    Path escape = Files.writeString(directory.resolve("escape"), "a=\\u00zz");
    assertThatThrownBy(() -> clients(servers, "--kafka-properties=" + escape))
        .isInstanceOf(UserErrorException.class)
        .hasMessageStartingWith("--kafka-properties: " + escape + ": ");
    Path wrong = Files.writeString(directory.resolve("wrong"), "request.timeout.ms=soon");
    assertThatThrownBy(() -> clients(servers, "--kafka-properties=" + wrong))
        .isInstanceOf(UserErrorException.class)
        .hasMessageContaining("soon");
  }
}
