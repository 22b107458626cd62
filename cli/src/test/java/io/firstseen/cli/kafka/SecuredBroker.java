package io.firstseen.cli.kafka;

import static org.awaitility.Awaitility.await;

import io.firstseen.embedded.EmbeddedBroker;
import io.firstseen.fixtures.SelfSigned;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ScramCredentialInfo;
import org.apache.kafka.clients.admin.ScramMechanism;
import org.apache.kafka.clients.admin.UserScramCredentialUpsertion;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.metadata.authorizer.StandardAuthorizer;

/**
 * A broker with two listeners: one of SASL_SSL, for users with a password and ACLs, and a plain one
 * on which everything is allowed.
 */
public final class SecuredBroker implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  private final Path directory;
  private final SelfSigned keys;
  private final EmbeddedBroker broker;
  private final Admin admin;

  /** Starts it; all its files are in a directory that exists. */
  public SecuredBroker(Path directory) throws Exception {
    this.directory = directory;
    this.keys = SelfSigned.make(directory, "EC");
    this.broker =
        EmbeddedBroker.start(
            directory.resolve("kafka"),
            EmbeddedBroker.Settings.tuned()
                .with(
                    "listeners",
                    "PLAINTEXT://localhost:0,SECURED://localhost:0,CONTROLLER://localhost:0")
                .with(
                    "listener.security.protocol.map",
                    "PLAINTEXT:PLAINTEXT,SECURED:SASL_SSL,CONTROLLER:PLAINTEXT")
                .with("authorizer.class.name", StandardAuthorizer.class.getName())
                .with("super.users", "User:ANONYMOUS")
                .with("listener.name.secured.sasl.enabled.mechanisms", "SCRAM-SHA-512")
                .with(
                    "listener.name.secured.scram-sha-512.sasl.jaas.config",
                    "org.apache.kafka.common.security.scram.ScramLoginModule required;")
                .with("listener.name.secured.ssl.keystore.type", "PKCS12")
                .with("listener.name.secured.ssl.keystore.location", keys.keyStore().toString())
                .with("listener.name.secured.ssl.keystore.password", SelfSigned.PASSWORD));
    this.admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()));
  }

  /** The address of the listener with authentication and ACLs. */
  public String servers() {
    return broker.bootstrapServers("SECURED");
  }

  /** The address where everything is allowed. */
  public String openServers() {
    return broker.bootstrapServers();
  }

  /** The plain listener's broker. */
  public EmbeddedBroker broker() {
    return broker;
  }

  /** A client that may do everything. */
  public Admin admin() {
    return admin;
  }

  /** Gives a user a password. */
  public void addUser(String name, String password) throws Exception {
    ScramCredentialInfo stored = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, 4096);
    admin
        .alterUserScramCredentials(
            List.of(new UserScramCredentialUpsertion(name, stored, password)))
        .all()
        .get();
  }

  /** The file that a user with a password gives to {@code --kafka-properties}. */
  public Path clientProperties(String user, String password) throws Exception {
    return Files.writeString(
        Files.createTempFile(directory, user, ".properties"),
        """
        security.protocol=SASL_SSL
        sasl.mechanism=SCRAM-SHA-512
        sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \
        username="%s" password="%s";
        ssl.truststore.location=%s
        ssl.truststore.password=%s
        """
            .formatted(
                user,
                password,
                keys.trustStore().toString().replace("\\", "\\\\"),
                SelfSigned.PASSWORD));
  }

  /** Makes these the rights that there are, all others are taken. */
  public void allowOnly(Collection<AclBinding> rights) throws Exception {
    Set<AclBinding> wanted = Set.copyOf(rights);
    admin.deleteAcls(List.of(AclBindingFilter.ANY)).all().get();
    admin.createAcls(wanted).all().get();
    // The broker learns of rights after the controller has stored them.
    await("the rights are known")
        .atMost(TIMEOUT)
        .until(
            () ->
                new HashSet<>(admin.describeAcls(AclBindingFilter.ANY).values().get())
                    .equals(wanted));
  }

  /** Deletes the topics that a job has created. */
  public void deleteTopics(Collection<String> topics) throws Exception {
    Set<String> there = new HashSet<>(admin.listTopics().names().get());
    there.retainAll(topics);
    admin.deleteTopics(there).all().get();
    await("the topics are gone")
        .atMost(TIMEOUT)
        .until(() -> admin.listTopics().names().get().stream().noneMatch(there::contains));
  }

  @Override
  public void close() {
    admin.close(Duration.ZERO);
    broker.close();
  }
}
