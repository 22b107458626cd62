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
 * Decides which connections may send all requests. Their number is limited, in total and per peer.
 * Further connections are put into a small reserve, in which they may only request health checks.
 * When the reserve is full, its oldest connection is closed. Health checks therefore succeed
 * regardless of the number of idle connections.
 */
final class Admission {
  // A peer with one global IPv6 address usually has all addresses with the same prefix.
  private static final int NETWORK_BYTES = 8;

  private final HttpLimits limits;
  private final Map<Object, Integer> ofPeers = new HashMap<>();
  // Connections by the numbers that they were assigned on arrival.
  private final NavigableMap<Long, Channel> reserve = new TreeMap<>();
  private int all;

  Admission(HttpLimits limits) {
    this.limits = limits;
  }

  /** Returns the peer of a connection: its address, or the network of a global IPv6 address. */
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

  /** Counts a connection until {@link #leave}; returns why it exceeds a limit, or null. */
  synchronized @Nullable String enter(Object peer) {
    int ofPeer = ofPeers.getOrDefault(peer, 0);
    if (ofPeer >= limits.maxConnectionsPerPeer()) {
      return "this peer has %d connections open, which is the most: use them, or close some"
          .formatted(ofPeer);
    }
    if (all >= limits.maxConnections()) {
      return "%d connections are open, which is the most: try again later".formatted(all);
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
   * Adds a connection to the reserve; returns the connection that must be closed, or null.
   *
   * @param number the number that it was assigned on arrival
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
