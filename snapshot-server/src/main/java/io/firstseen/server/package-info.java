/**
 * The snapshot consumer as a small HTTP service: {@link io.firstseen.server.SnapshotServer} answers
 * whether a key is in a set, and hands out manifests and blobs. Its paths and replies are an
 * interface, {@code docs/http-api.md}.
 */
package io.firstseen.server;
