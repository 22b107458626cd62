/**
 * A small HTTP/1.1 server over Netty: limits on everything that a peer may make long, one request
 * at a time on a connection, replies that know ranges. Knows nothing of snapshots.
 */
package io.firstseen.server.http;
