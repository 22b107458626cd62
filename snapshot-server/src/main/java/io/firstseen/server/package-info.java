/**
 * The snapshot consumer as a small HTTP service: {@link io.firstseen.server.SnapshotServer} serves
 * queries for keys, manifests and blobs. {@code docs/http-api.md} specifies its paths and replies.
 */
package io.firstseen.server;
