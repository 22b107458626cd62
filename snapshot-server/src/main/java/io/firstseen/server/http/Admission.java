package io.firstseen.server.http;

import io.netty.channel.Channel;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Which connections may ask for everything. Their number is bounded, in all and for each peer. The
 * others come into a small reserve, where they may ask for health only; when the reserve is full,
 * the one that came first gives way. So no number of idle connections keeps a health check out.
 */
final class Admission {
  // Whoever has one global address of IPv6 has all that begin with the same bytes.
  private static final int NETWORK_BYTES = 8;

  private final HttpLimits limits;
  private final Map<Object, Integer> ofPeers = new HashMap<>();
  // By the number of their arrival.
  private final NavigableMap<Long, Channel> reserve = new TreeMap<>();
  private int all;

  Admission(HttpLimits limits) {
    this.limits = limits;
  }

  /** What connections are counted by: an address, or the network of a global one of IPv6. */
  static Object peer(@Nullable InetSocketAddress remote) {
    if (remote == null) {
      return "gone";
    }
    InetAddress address = remote.getAddress();
    byte[] bytes = address.getAddress();
    // RFC 4291: global addresses are 2000::/3.
    boolean isGlobal = address instanceof Inet6Address && (bytes[0] & 0xE0) == 0x20;
    return isGlobal ? ByteBuffer.wrap(Arrays.copyOf(bytes, NETWORK_BYTES)) : address;
  }

  /** Counts a connection until {@link #leave}; returns why it is one too many, or null. */
  synchronized @Nullable String enter(Object peer) {
    int ofPeer = ofPeers.getOrDefault(peer, 0);
    if (ofPeer >= limits.maxConnectionsPerPeer()) {
      return "this peer has %d connections open, and may have no more: use them, or close some"
          .formatted(ofPeer);
    }
    if (all >= limits.maxConnections()) {
      return "%d connections are open, and there may be no more: try again later".formatted(all);
    }
    all++;
    ofPeers.put(peer, ofPeer + 1);
    return null;
  }

  synchronized void leave(Object peer) {
    all--;
    ofPeers.computeIfPresent(peer, (same, count) -> count == 1 ? null : count - 1);
  }

  /**
   * Takes a connection into the reserve; returns the one that must close, or null.
   *
   * @param number of its arrival
   */
  synchronized @Nullable Channel reserve(long number, Channel channel) {
    reserve.put(number, channel);
    return reserve.size() <= limits.reservedForHealth()
        ? null
        : reserve.pollFirstEntry().getValue();
  }

  synchronized void leaveReserve(long number) {
    reserve.remove(number);
  }
}
