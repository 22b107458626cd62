import assert from "node:assert/strict";
import { renameSync, truncateSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { DirectorySource, HashKey, HttpSource, PublicKey, SetFollower, UrlLists, useCrypto } from "../node.js";
import { temporary } from "./support/files.js";
import { golden, goldenBlobs, goldenSet } from "./support/golden.js";
import { service } from "./support/service.js";

const KEY = "http://example.com/key-125";
const TOKEN = "Bearer of-the-service-alone";
const SIGNER = PublicKey.parse("MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=");
const UNTRUSTED = PublicKey.parse(`-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=
-----END PUBLIC KEY-----
`);

function serveSet(server, manifest) {
  server.answers.set("/v1/manifest", golden(manifest));
  for (const [digest, bytes] of goldenBlobs()) {
    server.answers.set("/v1/blobs/" + digest, bytes);
  }
}

test("a follower takes what is newer, and keeps it whatever comes then", async (t) => {
  const server = await service(t);
  const follower = new SetFollower(new HttpSource(server.url));
  assert.throws(() => follower.contains(KEY), { name: "NotReadyError", message: "there is no set yet" });
  await assert.rejects(follower.refresh(), { name: "MissingError" });
  assert.throws(() => follower.contains(KEY), /there is nothing here/);

  serveSet(server, "manifest-of-nothing.bin");
  assert.equal((await follower.refresh()).manifest.sequence, 0n);
  assert.equal(follower.contains(KEY), false);
  assert.equal(await follower.refresh(), null);

  serveSet(server, "manifest.bin");
  const update = await follower.refresh();
  assert.equal(update.manifest.sequence, 5n);
  assert.ok(update.bytes > 0);
  const answers = () => follower.containsAll([KEY, "http://example.com/key-1000"]);
  assert.deepEqual(answers(), [true, false]);

  const refusals = [
    [golden("manifest-of-nothing.bin"), "OutdatedError", /sequence 0 is older than that of sequence 5/],
    [golden("manifest.bin").subarray(0, 50), "MalformedError", /checksum|too early/],
    [golden("one.snapshot"), "MalformedError", /this is not a manifest/],
    [new Uint8Array(20_000), "MalformedError", /at most 16384 bytes/],
  ];
  for (const [bytes, name, message] of refusals) {
    server.answers.set("/v1/manifest", bytes);
    await assert.rejects(follower.refresh(), (error) => error.name === name && message.test(error.message));
    assert.equal(follower.trouble.name, name);
    assert.deepEqual(answers(), [true, false]);
  }
  serveSet(server, "manifest-signed.bin");
  assert.equal((await follower.refresh()).way, "nothing");
  assert.equal(follower.trouble, null);
  assert.equal(follower.manifest.signature.key, SIGNER.id);
  assert.equal(follower.isStale(1700031660999), false);
  assert.equal(follower.isStale(1700031661000), true);

  await server.close();
  await assert.rejects(follower.refresh(), { name: "UnreachableError" });
  assert.deepEqual(answers(), [true, false]);
});

test("a directory on a web server is followed", async (t) => {
  const server = await service(t);
  const follower = new SetFollower(new HttpSource(server.url));
  await assert.rejects(follower.refresh(), { name: "MissingError" });
  server.answers.set("/manifest.bin", golden("manifest.bin"));
  await assert.rejects(follower.refresh(), { name: "MissingError" });
  for (const [digest, bytes] of goldenBlobs()) {
    server.answers.set("/blobs/" + digest, bytes);
  }
  assert.equal((await follower.refresh()).manifest.sequence, 5n);
  assert.equal(follower.contains(KEY), true);
  // The same address may later lead to a service.
  server.answers.delete("/manifest.bin");
  await assert.rejects(follower.refresh(), { name: "MissingError" });
  serveSet(server, "manifest-signed.bin");
  assert.equal((await follower.refresh()).way, "nothing");
});

test("an unchanged manifest is not sent again, unless the cache of a browser may have it", async (t) => {
  const server = await service(t);
  serveSet(server, "manifest.bin");
  const refreshes = async (headers) => {
    const follower = new SetFollower(new HttpSource(server.url, { headers }));
    await follower.refresh();
    assert.equal(await follower.refresh(), null);
    assert.equal(await follower.refresh(), null);
    return follower;
  };
  const follower = await refreshes({});
  assert.deepEqual(server.unchanged, ["/v1/manifest", "/v1/manifest"]);
  serveSet(server, "manifest-signed.bin");
  assert.equal((await follower.refresh()).way, "nothing");
  await refreshes({ authorization: TOKEN });
  assert.equal(server.unchanged.length, 4);
  globalThis.location = { href: server.url };
  t.after(() => delete globalThis.location);
  await refreshes({});
  assert.equal(server.unchanged.length, 4);
});

test("blobs that do not match the manifest are rejected", async (t) => {
  for (const damage of [
    (bytes) => bytes.map((byte, i) => (i === 20 ? byte ^ 1 : byte)),
    (bytes) => bytes.subarray(1),
    (bytes) => Uint8Array.of(...bytes, 0),
  ]) {
    for (const digest of goldenBlobs().keys()) {
      const server = await service(t);
      serveSet(server, "manifest.bin");
      const path = "/v1/blobs/" + digest;
      server.answers.set(path, damage(server.answers.get(path)));
      const follower = new SetFollower(new HttpSource(server.url));
      // A client that loads the bases does not need some of the golden blobs.
      const isNeeded = await follower.refresh().then(
        () => false,
        (error) => error.name === "MalformedError"
      );
      assert.equal(isNeeded, server.asked.includes(path), digest);
      await server.close();
    }
  }
});

test("only a set of the name, the hash key and a signer that are required is accepted", async (t) => {
  const server = await service(t);
  serveSet(server, "manifest-signed.bin");
  const follow = (options) => new SetFollower(new HttpSource(server.url), options);
  assert.equal((await follow({ publicKeys: [UNTRUSTED, SIGNER] }).refresh()).manifest.setName, "golden");
  server.asked.length = 0;
  await assert.rejects(follow({ publicKeys: [UNTRUSTED] }).refresh(), {
    name: "UntrustedError",
    message: "the manifest is signed by the key 06e3fd8fda29bb60, which is not trusted",
  });
  await assert.rejects(follow({ set: "spam" }).refresh(), /of the set 'golden', not of 'spam'/);
  await assert.rejects(follow({ hashKey: HashKey.xxh3(1n) }).refresh(), { name: "UnsupportedError" });
  serveSet(server, "manifest.bin");
  await assert.rejects(follow({ publicKeys: [SIGNER] }).refresh(), /the manifest has no signature/);
  const forged = golden("manifest-signed.bin");
  forged[forged.length - 1] ^= 1;
  server.answers.set("/v1/manifest", forged);
  await assert.rejects(follow({ publicKeys: [SIGNER] }).refresh(), {
    name: "UntrustedError",
    message: "the manifest is not what the key 06e3fd8fda29bb60 signed",
  });
  assert.deepEqual(new Set(server.asked), new Set(["/v1/manifest"]));
});

test("a runtime without Ed25519 is reported", async (t) => {
  const server = await service(t);
  serveSet(server, "manifest-signed.bin");
  const original = globalThis.crypto ?? (await import("node:crypto")).webcrypto;
  t.after(() => useCrypto(original));
  const follower = new SetFollower(new HttpSource(server.url), { publicKeys: [SIGNER] });
  useCrypto(undefined);
  await assert.rejects(follower.refresh(), /signatures cannot be checked: this runtime has no WebCrypto/);
  const notSupported = Object.assign(new Error("no"), { name: "NotSupportedError" });
  useCrypto({ subtle: { importKey: () => Promise.reject(notSupported) } });
  await assert.rejects(follower.refresh(), /the WebCrypto of this runtime has no Ed25519/);
  assert.equal(follower.set, null);
});

test("a follower that runs tells updates, and a problem once", async (t) => {
  const server = await service(t);
  const follower = new SetFollower(new HttpSource(server.url, { timeoutMillis: 2000 }));
  t.after(() => follower.stop());
  const told = [];
  let tell = () => {};
  const next = () => new Promise((resolve) => (tell = resolve));
  const hear = (what) => {
    told.push(what);
    tell();
  };
  let heard = next();
  follower.start({
    intervalMillis: 5,
    onUpdate: ({ manifest }) => hear(Number(manifest.sequence)),
    onTrouble: (error) => hear(error.name),
  });
  await heard;
  heard = next();
  serveSet(server, "manifest-of-nothing.bin");
  await heard;
  heard = next();
  serveSet(server, "manifest.bin");
  await heard;
  follower.stop();
  assert.deepEqual(told, ["MissingError", 0, 5]);
  const { length } = server.asked;
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.ok(server.asked.length <= length + 1);
});

test("a service that sends nothing times out", async (t) => {
  const silent = () => new Promise((_, reject) => (abort = reject));
  let abort;
  const fetch = (url, { signal }) => {
    signal.addEventListener("abort", () => abort(signal.reason));
    return silent();
  };
  const follower = new SetFollower(new HttpSource("http://127.0.0.1:1/", { fetch, timeoutMillis: 20 }));
  await assert.rejects(follower.refresh(), /does not answer: nothing came for 20 ms/);
});

test("an allow set overrides lists", () => {
  const list = (...entries) => ({ match: (url) => entries.find((entry) => url.startsWith(entry)) ?? null });
  const lists = new UrlLists(
    [
      { name: "spam", list: list("a/", "b/") },
      { name: "more", list: list("a/x", "c/") },
    ],
    [{ name: "good", list: list("b/") }]
  );
  assert.deepEqual(lists.ask("a/x"), {
    url: "a/x",
    present: true,
    matches: [
      { list: "spam", entry: "a/" },
      { list: "more", entry: "a/x" },
    ],
    allowedBy: [],
  });
  assert.deepEqual(lists.ask("b/1").present, false);
  assert.deepEqual(lists.ask("b/1").allowedBy, [{ list: "good", entry: "b/" }]);
  assert.deepEqual(lists.ask("d/").matches, []);
});

test("headers do not go where the service leads to, and may change", async (t) => {
  const elsewhere = await service(t);
  serveSet(elsewhere, "manifest-of-nothing.bin");
  const seen = [];
  const server = createServer((request, response) => {
    seen.push(request.headers["x-api-key"]);
    response.writeHead(302, { location: elsewhere.url + request.url.slice(1) });
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const url = `http://127.0.0.1:${server.address().port}/`;
  let key = "first";
  const headers = () => ({ "x-api-key": key });
  const guarded = new SetFollower(new HttpSource(url, { headers }));
  await assert.rejects(guarded.refresh(), /leads to another address, to which no headers are sent/);
  key = "second";
  await assert.rejects(guarded.refresh(), { name: "UnreachableError" });
  assert.deepEqual(seen, ["first", "second"]);
  assert.deepEqual(elsewhere.asked, []);
  await new SetFollower(new HttpSource(url)).refresh();
  assert.ok(elsewhere.asked.length > 0);
});

/** A service without blobs, and another place that has them; the requests to that place. */
async function elsewhere(t, manifest, manifestOfBases) {
  const server = await service(t);
  server.answers.set("/v1/manifest", golden(manifest));
  if (manifestOfBases !== undefined) {
    server.answers.set("/v1/manifest?bases=true", golden(manifestOfBases));
  }
  const asked = [];
  const fetch = (url, options) => {
    const token = options.headers.authorization;
    if (new URL(url).hostname === "127.0.0.1") {
      assert.equal(token, TOKEN);
      return globalThis.fetch(url, options);
    }
    asked.push(String(url));
    assert.equal(token, undefined);
    return Promise.resolve(new Response(goldenBlobs().get(String(url).slice(-64))));
  };
  const follow = (blobs, publicKeys = []) =>
    new SetFollower(new HttpSource(server.url, { fetch, blobs, headers: { authorization: TOKEN } }), { publicKeys }).refresh();
  return { asked, follow };
}

test("the place of blobs in a manifest is used only if a trusted key signed that manifest", async (t) => {
  const place = "https://snapshots.example.com/golden/blobs/";
  for (const bases of [undefined, "manifest-with-all-parts.bin", "manifest-signed.bin"]) {
    const { asked, follow } = await elsewhere(t, "manifest-signed.bin", bases);
    await assert.rejects(follow(null), { name: "MissingError" });
    assert.deepEqual(asked, []);
    await follow(null, [SIGNER]);
    assert.ok(asked.length > 0 && asked.every((url) => url.startsWith(place)));
  }
  // The manifest of bases is never verified.
  const { asked, follow } = await elsewhere(t, "manifest.bin", "manifest-signed.bin");
  await assert.rejects(follow(null), /which is asked only if a trusted key signed the manifest/);
  assert.deepEqual(asked, []);
  await follow("https://trusted.example/b");
  assert.ok(asked.length > 0 && asked.every((url) => url.startsWith("https://trusted.example/b/")));
  assert.throws(() => new HttpSource("http://a.example/", { blobs: "file:///b" }), /blobs must be an http or https URL/);
});

test("a directory's blobs may be in a trusted place, and are not read if they have another size", async (t) => {
  const directory = goldenSet(temporary(t));
  const blobs = path.join(directory, "elsewhere");
  renameSync(path.join(directory, "blobs"), blobs);
  const follow = (options) => new SetFollower(new DirectorySource(directory, options)).refresh();
  await assert.rejects(follow(), { name: "MissingError" });
  assert.equal((await follow({ blobs })).way, "bases");
  assert.equal((await follow({ blobs: pathToFileURL(blobs).href })).way, "bases");
  await assert.rejects(follow({ blobs: "https://a.example/" }), { name: "OutOfReachError" });
  for (const digest of goldenBlobs().keys()) {
    // More than a Buffer may have: who reads it before its size is known fails otherwise.
    truncateSync(path.join(blobs, digest), 2 ** 33);
  }
  await assert.rejects(follow({ blobs }), /blob [0-9a-f]{64} must have [0-9]+ bytes, got 8589934592/);
});

test("a reply that comes too slowly is given up", async () => {
  const reply = (all, part, millis) => (url, { signal }) => {
    let left = all;
    const body = new ReadableStream({
      async pull(controller) {
        await new Promise((resolve) => setTimeout(resolve, millis));
        if (signal.aborted) {
          controller.error(signal.reason);
        } else if (left === 0) {
          controller.close();
        } else {
          const bytes = Math.min(left, part);
          left -= bytes;
          controller.enqueue(new Uint8Array(bytes));
        }
      },
    });
    return Promise.resolve(new Response(body));
  };
  const source = (...how) => new HttpSource("http://127.0.0.1:1/", { fetch: reply(...how), timeoutMillis: 200 });
  await assert.rejects(source(2000, 1, 10).manifest(), /does not answer: only [0-9]+ bytes came in 200 ms/);
  const blob = (bytes, ...how) => source(bytes, ...how).blob({ digest: "00", bytes }, { blobs: null });
  await assert.rejects(blob(2 ** 21, 2 ** 14, 20), /does not answer: only [0-9]+ bytes came in 200 ms/);
  // Longer than one timeout, yet fast enough.
  assert.equal((await blob(5 * 2 ** 20, 2 ** 19, 40)).length, 5 * 2 ** 20);
});
