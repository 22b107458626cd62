/**
 * A small HTTP/1.1 server over Netty: limits on all sizes and times that a peer controls, one
 * request at a time per connection, and byte ranges. Does not depend on snapshots.
 */
package io.firstseen.server.http;
