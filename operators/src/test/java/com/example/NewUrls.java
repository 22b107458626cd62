package com.example;

// example: begin
import io.firstseen.filters.key.Canonicaliser;
import io.firstseen.operators.dedup.DedupStreams;
import io.firstseen.operators.dedup.Firstseen;
import io.firstseen.types.TimeToLive;
import java.time.Duration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

public class NewUrls {
  public record Click(String url) {}

  public static void main(String[] arguments) throws Exception {
    StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
    DedupStreams<Click> streams =
        dedup(
            env.fromData(
                new Click("https://example.org/a?x=1"),
                new Click("HTTPS://EXAMPLE.org:443/a?x=1"),
                new Click("https://example.org/b")),
            Duration.ofDays(30));
    streams.accepted().map(change -> "new: " + change.event().url()).print();
    streams.duplicates().map(change -> "duplicate: " + change.event().url()).print();
    env.execute("new-urls");
  }

  static DedupStreams<Click> dedup(DataStream<Click> clicks, Duration ttl) {
    return Firstseen.dedup(clicks)
        .keyText(Click::url)
        .canonicaliser(Canonicaliser.URL)
        .capacity(100_000_000)
        .falsePositiveRate(0.001)
        .ttl(TimeToLive.of(ttl).by(TimeToLive.Clock.PROCESSING))
        .apply();
  }
}
// example: end
