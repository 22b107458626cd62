package io.firstseen.server;

import io.firstseen.consumer.SnapshotClient;
import io.firstseen.server.http.HttpFailure;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** All sets of a service, by their names. */
final class ServedSets implements AutoCloseable {
  private final Map<String, ServedSet> byName = new LinkedHashMap<>();
  private final List<SetSource> sources;

  ServedSets(List<SetSource> sources, Set<String> allow, ServerOptions options, ServiceLog log) {
    this.sources = List.copyOf(sources);
    // The bases of all sets may use half of the heap.
    long basesBytes = Runtime.getRuntime().maxMemory() / 2 / sources.size();
    for (SetSource source : sources) {
      String name = source.setName();
      byName.put(name, new ServedSet(source, allow.contains(name), options, basesBytes, log));
    }
  }

  /** Starts to follow all sets: one consumer per topic, one thread per directory. */
  void start() {
    Map<Object, List<SetSource.OnTopic>> byConsumer = new LinkedHashMap<>();
    for (SetSource source : sources) {
      if (source instanceof SetSource.OnTopic onTopic) {
        byConsumer.computeIfAbsent(onTopic.consumer(), unused -> new ArrayList<>()).add(onTopic);
      } else if (source instanceof SetSource.OfFiles ofFiles) {
        ServedSet set = byName.get(source.setName());
        set.answerBy(ofFiles.follow(set));
      }
    }
    byConsumer.values().forEach(this::startTogether);
  }

  private void startTogether(List<SetSource.OnTopic> ofOneTopic) {
    List<SnapshotClient> clients =
        SnapshotClient.startAll(
            ofOneTopic.stream()
                .map(source -> source.heardBy(byName.get(source.setName())))
                .toList());
    for (int i = 0; i < ofOneTopic.size(); i++) {
      byName.get(ofOneTopic.get(i).setName()).answerBy(clients.get(i));
    }
  }

  List<ServedSet> all() {
    return List.copyOf(byName.values());
  }

  /**
   * Returns the set with a name, or the only set if no name is given.
   *
   * @throws HttpFailure if no set has that name, or no name is given and there are several sets
   */
  ServedSet named(@Nullable String name) throws HttpFailure {
    if (name != null) {
      return requireNamed(name);
    }
    if (byName.size() > 1) {
      throw new HttpFailure(400, "the parameter set must be given, " + those());
    }
    return byName.values().iterator().next();
  }

  private ServedSet requireNamed(String name) throws HttpFailure {
    ServedSet set = byName.get(name);
    if (set == null) {
      throw new HttpFailure(404, "there is no set '" + name + "', " + those());
    }
    return set;
  }

  /**
   * Returns the lists and allow sets to query for URLs, each with its current snapshot.
   *
   * @param names the lists to query; empty for all
   * @throws HttpFailure if a set does not exist, is not a list or has no usable snapshot, or if
   *     there is no list
   */
  QueriedLists lists(List<String> names) throws HttpFailure {
    List<QueriedLists.Asked> lists = new ArrayList<>();
    for (String name : new LinkedHashSet<>(names)) {
      lists.add(QueriedLists.Asked.list(requireNamed(name)));
    }
    List<QueriedLists.Asked> allow = new ArrayList<>();
    for (ServedSet set : byName.values()) {
      if (set.isAllowSet()) {
        allow.add(QueriedLists.Asked.allow(set));
      } else if (names.isEmpty()) {
        QueriedLists.Asked.ifList(set).ifPresent(lists::add);
      }
    }
    if (lists.isEmpty()) {
      throw new HttpFailure(
          404, "no set here is a list, which has the canonicaliser url-expression; " + those());
    }
    return new QueriedLists(lists, allow);
  }

  private String those() {
    return "there " + (byName.size() == 1 ? "is " : "are ") + String.join(", ", byName.keySet());
  }

  /** Returns why the service is not ready; empty if all sets can be queried. */
  Optional<String> whyNotReady() {
    return byName.values().stream().flatMap(set -> set.whyNot(set.status()).stream()).findFirst();
  }

  /**
   * Returns why no set can ever be queried with this configuration; empty if a set may become
   * available.
   */
  Optional<String> unusable() {
    List<String> reasons =
        byName.values().stream().flatMap(set -> set.unusable().stream()).toList();
    return reasons.size() < byName.size() ? Optional.empty() : Optional.of(reasons.get(0));
  }

  @Override
  public void close() {
    byName.values().forEach(ServedSet::close);
  }
}
