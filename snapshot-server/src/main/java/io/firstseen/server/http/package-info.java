/**
 * A small HTTP/1.1 server over Netty: limits on all sizes and times that a peer controls, one
 * request at a time on a connection, and byte ranges. Knows nothing of snapshots.
 */
package io.firstseen.server.http;
