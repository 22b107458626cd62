package io.firstseen.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.HttpHeaders;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ImmutableContentTest {
  // Bytes before and after it must never be sent.
  private static final ImmutableContent TEN_BYTES =
      new ImmutableContent(
          "x/y",
          "tag",
          ByteBuffer.wrap("<0123456789>".getBytes(StandardCharsets.US_ASCII)).slice(1, 10),
          "forever");

  private static Reply answer(String method, String... headers) throws HttpFailure {
    HttpHeaders all = new DefaultHttpHeaders();
    for (int i = 0; i < headers.length; i += 2) {
      all.add(headers[i], headers[i + 1]);
    }
    return TEN_BYTES.answer(new Request(method, "/", "", all, new byte[0]));
  }

  private static String body(Reply reply) {
    return StandardCharsets.US_ASCII.decode(reply.body()).toString();
  }

  private static Map<String, String> headers(Reply reply) {
    Map<String, String> headers = new HashMap<>();
    reply.forEachHeader(headers::put);
    return headers;
  }

  @Test
  void isDescribed() throws Exception {
    Reply reply = answer("GET");
    assertThat(reply.status()).isEqualTo(200);
    assertThat(body(reply)).isEqualTo("0123456789");
    assertThat(headers(reply))
        .containsExactlyInAnyOrderEntriesOf(
            Map.of("etag", "\"tag\"", "accept-ranges", "bytes", "cache-control", "forever"));
  }

  @ParameterizedTest
  @CsvSource({
    "bytes=0-0, 0, bytes 0-0/10",
    "bytes=2-4, 234, bytes 2-4/10",
    "bytes=7-, 789, bytes 7-9/10",
    "bytes=-3, 789, bytes 7-9/10",
    "bytes=-99, 0123456789, bytes 0-9/10",
    "bytes=8-99999999999999999999, 89, bytes 8-9/10",
    "BYTES=9-9, 9, bytes 9-9/10",
  })
  void aRangeIsAPart(String range, String part, String contentRange) throws Exception {
    Reply reply = answer("GET", "range", range);
    assertThat(reply.status()).isEqualTo(206);
    assertThat(body(reply)).isEqualTo(part);
    assertThat(headers(reply))
        .containsEntry("content-range", contentRange)
        .containsEntry("etag", "\"tag\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"bytes=4-2", "bytes=-", "bytes=0-1,3-4", "lines=0-1", "bytes 0-1", "bytes=a-b"})
  void whatIsNoRangeIsPassedOver(String range) throws Exception {
    assertThat(answer("GET", "range", range).status()).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"bytes=10-", "bytes=10-11", "bytes=-0", "bytes=99999999999999-"})
  void aRangeWithoutAByteIsRefused(String range) {
    assertThatThrownBy(() -> answer("GET", "range", range))
        .isInstanceOfSatisfying(
            HttpFailure.class,
            failure -> {
              assertThat(failure.status()).isEqualTo(416);
              assertThat(headers(failure.reply())).containsEntry("content-range", "bytes */10");
            });
  }

  @Test
  void aRangeHoldsForTheSameContentAlone() throws Exception {
    assertThat(answer("GET", "range", "bytes=1-1", "if-range", "\"tag\"").status()).isEqualTo(206);
    for (String other : new String[] {"\"gat\"", "W/\"tag\"", "Fri, 20 Nov 2026 15:18:15 GMT"}) {
      assertThat(answer("GET", "range", "bytes=1-1", "if-range", other).status()).isEqualTo(200);
    }
    assertThat(answer("HEAD", "range", "bytes=1-1").status()).isEqualTo(200);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"tag\"|304",
        "W/\"tag\"|304",
        "\"a\", \"tag\"|304",
        "*|304",
        "\"a\"|200",
        "tag|200"
      })
  void whatThePeerHasIsNotSentAgain(String ifNoneMatch, int status) throws Exception {
    Reply reply = answer("GET", "if-none-match", ifNoneMatch);
    assertThat(reply.status()).isEqualTo(status);
    assertThat(headers(reply)).containsEntry("etag", "\"tag\"");
    assertThat(body(reply)).isEqualTo(status == 304 ? "" : "0123456789");
  }
}
