package io.firstseen.cli.up;

import io.firstseen.jobs.options.DedupOptions;
import io.firstseen.jobs.options.EventOptions;
import io.firstseen.jobs.options.JobOptions;
import io.firstseen.jobs.options.KeyOptions;
import io.firstseen.jobs.options.OptionValues;
import io.firstseen.jobs.options.SnapshotOptions;
import io.firstseen.jobs.options.StreamOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** The options of the command that are passed to the two jobs and the service. */
record JobArguments(ParseResult given, JobOptions options) {
  private static final String ON_WORKERS = "--hash-key-on-workers";
  private static final Set<String> OF_EVENTS = names(EventOptions.class);
  private static final Set<String> OF_DEDUP =
      names(KeyOptions.class, StreamOptions.class, DedupOptions.class, EventOptions.class);
  private static final Set<String> OF_SNAPSHOTS =
      names(KeyOptions.class, StreamOptions.class, SnapshotOptions.class);

  private static final String HASH_KEY = "--hash-key-file";
  private static final String SNAPSHOT_HASH_KEY = "--snapshot-hash-key-file";

  private static Set<String> names(Class<?>... mixins) {
    return Stream.of(mixins)
        .flatMap(mixin -> new CommandLine(mixin).getCommandSpec().options().stream())
        .map(OptionSpec::longestName)
        .filter(name -> !name.equals(ON_WORKERS))
        .collect(Collectors.toUnmodifiableSet());
  }

  /** The options of {@code DedupJob}. */
  List<String> ofDedup() {
    List<String> words = words(OF_DEDUP);
    words.add(ON_WORKERS);
    return words;
  }

  /** The options of the topics of events, which only {@code DedupJob} reads. */
  List<String> ofEvents() {
    return words(OF_EVENTS);
  }

  /** The options of {@code SnapshotJob}, which reads the output of the dedup. */
  List<String> ofSnapshots() {
    List<String> words = words(OF_SNAPSHOTS);
    words.add(ON_WORKERS);
    words.addAll(words(Set.of("--ttl")));
    if (!given.hasMatchedOption("--snapshot-fpr")
        && !given.hasMatchedOption("--snapshot-url-fpr")) {
      words.addAll(renamed("--fpr", "--snapshot-fpr"));
    }
    if (given.hasMatchedOption("--max-ahead")) {
      // At least a day more than in the dedup job: a key that it accepted must not be skipped.
      long days = Math.min(options.dedup().maxAhead().toDays() + 2, OptionValues.MAX_AMOUNT);
      words.add("--max-ahead=" + OptionValues.write(Duration.ofDays(days)));
    }
    return words;
  }

  /** The options of {@code serve}. */
  List<String> ofService() {
    List<String> words = new ArrayList<>(List.of("--set=" + options.snapshots().setName()));
    String hashKey = given.hasMatchedOption(SNAPSHOT_HASH_KEY) ? SNAPSHOT_HASH_KEY : HASH_KEY;
    words.addAll(renamed(hashKey, HASH_KEY));
    words.addAll(renamed("--blob-dir", "--blobs"));
    words.add("--window=" + OptionValues.write(options.snapshots().window()));
    words.add("--idle-timeout=" + OptionValues.write(options.stream().idleTimeout()));
    return words;
  }

  private List<String> renamed(String name, String other) {
    return words(Set.of(name)).stream().map(word -> other + word.substring(name.length())).toList();
  }

  /** The given options with these names, as one word each. */
  private List<String> words(Set<String> names) {
    List<String> words = new ArrayList<>();
    // A repeated option is matched several times, with all of its values each time.
    for (OptionSpec option : new LinkedHashSet<>(given.matchedOptions())) {
      String name = option.longestName();
      if (!names.contains(name)) {
        continue;
      }
      for (String value : option.originalStringValues()) {
        boolean isAlone =
            option.arity().max() == 0 || (option.arity().min() == 0 && value.isEmpty());
        words.add(isAlone ? name : name + "=" + value);
      }
    }
    return words;
  }
}
