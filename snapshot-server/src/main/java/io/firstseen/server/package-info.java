/**
 * The snapshot consumer as a small HTTP service: {@link io.firstseen.server.SnapshotServer} answers
 * whether a key is in a set, and hands out manifests and blobs. {@code docs/http-api.md} specifies
 * its paths and replies.
 */
package io.firstseen.server;
