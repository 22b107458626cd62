import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmodSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { main } from "../cli.js";
import { readBlob } from "../lib/blobs.js";
import { HashKey, PublicKey, Snapshot, openLookup, openPath } from "../node.js";
import { Range } from "../lib/gcs.js";
import { GOLDEN, repository, temporary } from "./support/files.js";
import { goldenBlobs, goldenSet } from "./support/golden.js";
import { service } from "./support/service.js";

const SIGNER = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n";

/** What a command answers. */
async function run(words, input = "") {
  const said = { status: 0, output: "", errors: "" };
  said.status = await main(words, {
    input: (async function* () {
      yield Buffer.from(input);
    })(),
    out: (text) => (said.output += text),
    error: (text) => (said.errors += text),
  });
  return said;
}

test("it is a program", () => {
  const program = repository("clients/javascript/bin/firstseen.js");
  const query = spawnSync(process.execPath, [program, "query", `${GOLDEN}/one.snapshot`], {
    input: "http://example.com/key-0\nhttp://example.com/key-1",
    encoding: "utf8",
  });
  assert.equal(query.stderr, "");
  assert.equal(query.stdout, "http://example.com/key-0\tpresent\nhttp://example.com/key-1\tabsent\n");
  assert.equal(query.status, 0);
  const missing = spawnSync(process.execPath, [program, "info", "missing"], { encoding: "utf8" });
  assert.equal(missing.stderr, "missing: cannot open missing: ENOENT\n");
  assert.equal(missing.status, 2);
});

test("invalid command lines are rejected with the usage", async () => {
  assert.match((await run(["query"])).errors, /^query takes 1 or more arguments, got 0\n/);
  assert.match((await run(["verify"])).errors, /^verify takes 1 argument, got 0\n/);
  for (const words of [["quary"], ["info"], ["info", "a", "b"], ["query", "a", "--lists"], ["info", "a", "--scope=x"]]) {
    const { status, errors } = await run(words);
    assert.equal(status, 2);
    assert.match(errors, /\nusage:\n/);
  }
  assert.match((await run([])).output, /^usage:/);
  assert.match((await run(["query", "--help"])).output, /^usage:/);
});

test("query answers for keys and for lines", async (t) => {
  const set = goldenSet(temporary(t));
  assert.equal(
    (await run(["query", set, "http://example.com/key-125", "x"])).output,
    "http://example.com/key-125\tpresent\nx\tabsent\n"
  );
  const { output, status, errors } = await run(["query", set, "-", "--json"], "http://example.com/key-125\n\n");
  assert.equal(status, 4);
  assert.match(errors, /^invalid: 1 could not be evaluated/);
  assert.deepEqual(output.trim().split("\n").map((line) => JSON.parse(line)), [
    { key: "http://example.com/key-125", answer: "present" },
    { key: "", answer: "invalid", reason: "key is empty" },
  ]);
});

test("a hash key is read from a file, and open rights are told", async (t) => {
  const directory = temporary(t);
  const file = path.join(directory, "hash.key");
  writeFileSync(file, "000102030405060708090a0b0c0d0e0f\n", { mode: 0o600 });
  const words = ["query", `${GOLDEN}/one.snapshot`, "a", `--hash-key-file=${file}`];
  const refused = await run(words);
  assert.equal(refused.status, 2);
  assert.match(refused.errors, /^\S+: the set was made with another hash key: [^\n]*445ce7001fe18326\)\n$/);
  chmodSync(file, 0o640);
  assert.match((await run(words)).errors, /^warning: users other than its owner have access[^\n]*mode 0640\): chmod 600 /);
  writeFileSync(file, "no key\n");
  assert.match((await run(words)).errors, /\S+: a hash key must be 32 hexadecimal digits/);
});

test("the environment may have the hash key, and a signature is asked for", async (t) => {
  const words = ["query", `${GOLDEN}/sixty-four.snapshot`, "http://example.com/key-0"];
  t.after(() => delete process.env.FIRSTSEEN_HASH_KEY);
  process.env.FIRSTSEEN_HASH_KEY = "00".repeat(16);
  assert.match((await run(words)).errors, /another hash key/);
  assert.equal((await run([...words, "--hash-key-file=public"])).status, 0);
  process.env.FIRSTSEEN_HASH_KEY = "0".repeat(31) + "g";
  assert.match((await run(words)).errors, /FIRSTSEEN_HASH_KEY: a hash key must be 32 [^\n]*character 32 is not one/);
  process.env.FIRSTSEEN_HASH_KEY = "";
  assert.equal((await run(words)).status, 0);
  const set = goldenSet(temporary(t));
  const unsigned = await run(["query", set, "a", "--public-key", repository("docs/index.md")]);
  assert.match(unsigned.errors, /the public key in \S+ cannot be used/);
});

test("info and verify know snapshots, blobs, manifests and directories", async (t) => {
  const directory = temporary(t);
  const set = goldenSet(directory);
  for (const name of readdirSync(GOLDEN)) {
    const file = path.join(GOLDEN, name);
    const { status, output } = await run(["info", file]);
    assert.equal(status, 0, name);
    assert.match(output, /^(set {18}|kind {17})/);
    if (!name.endsWith(".bin")) {
      assert.equal((await run(["verify", file])).output, `${file}: valid\n`);
    }
  }
  assert.equal((await run(["verify", set])).output, `${set}: valid\n`);
  const key = path.join(directory, "public.pem");
  writeFileSync(key, SIGNER);
  const unsigned = await run(["verify", set, "--public-key", key]);
  assert.equal(unsigned.status, 1);
  assert.match(unsigned.output, /: invalid: .*signature/);
  const unsignable = await run(["verify", `${GOLDEN}/one.snapshot`, "--public-key", key]);
  assert.equal(unsignable.status, 2);
  assert.match(unsignable.errors, /only manifests have signatures/);
  goldenSet(set, "manifest-signed.bin");
  assert.equal((await run(["verify", set])).output, `${set}: valid, its signature is not checked\n`);
  const signed = await run(["verify", set, "--public-key", key]);
  assert.equal(signed.output, `${set}: valid, signed by the key 06e3fd8fda29bb60\n`);
  const trusted = { publicKeys: [PublicKey.parse(SIGNER)] };
  await assert.rejects(openLookup(`${GOLDEN}/one.snapshot`, HashKey.public(), trusted), /only manifests have signatures/);
  // An old pack, in a place that a signed manifest names and this program does not read.
  const { opened: manifest } = openPath(set);
  const { before } = readBlob(readFileSync(path.join(set, "blobs", manifest.pack.digest)));
  rmSync(path.join(set, "blobs", before.digest));
  assert.equal((await run(["verify", set, "--public-key", key])).output, signed.output);
  rmSync(path.join(set, "blobs", manifest.pack.digest));
  const outOfReach = await run(["verify", set, "--public-key", key]);
  assert.equal(outOfReach.status, 2);
  assert.match(outOfReach.errors, /is in https:\S+, this program reads files alone/);
  const elsewhere = await run(["verify", set]);
  assert.equal(elsewhere.status, 2);
  assert.match(elsewhere.errors, /the manifest names https:\S+, which is asked only if a trusted key signed/);
  goldenSet(set, "manifest-signed.bin");
  writeFileSync(key, "none");
  assert.match((await run(["verify", set, "--public-key", key])).errors, /the public key in \S+ cannot be used/);

  const blob = path.join(set, "blobs", [...goldenBlobs().keys()][0]);
  const bytes = readFileSync(blob);
  bytes[bytes.length - 10] ^= 1;
  writeFileSync(blob, bytes);
  const invalid = await run(["verify", set]);
  assert.equal(invalid.status, 1);
  assert.match(invalid.output, /: invalid: blob [0-9a-f]{64} is damaged\n$/);
});

test("a manifest must have the sequence of its name", async (t) => {
  const set = goldenSet(temporary(t), "manifest.bin", 7);
  const { status, output } = await run(["verify", set]);
  assert.equal(status, 1);
  assert.equal(output, `${set}: invalid: the sequence must match the file's name, got 5\n`);
  // Files with other names are not manifests.
  for (const name of ["manifest-00000000099.bin", "manifest-099.bin", "manifest-9223372036854775808.bin"]) {
    writeFileSync(path.join(set, name), "");
  }
  assert.equal((await run(["verify", set])).status, 1);
});

test("a service is followed and asked", async (t) => {
  const server = await service(t);
  server.answers.set("/v1/manifest", readFileSync(`${GOLDEN}/manifest.bin`));
  for (const [digest, bytes] of goldenBlobs()) {
    server.answers.set("/v1/blobs/" + digest, bytes);
  }
  const { output } = await run(["follow", server.url, "--once", "--json"]);
  const { bytes, ...told } = JSON.parse(output);
  assert.ok(bytes > 300);
  assert.deepEqual(told, {
    set: "golden",
    sequence: 5,
    windowEndMillis: 1700021600000,
    count: 112,
    root: "788190041639fe27418118a73fce3f4e0cb9e617160de1ecf4a31f3bbccfe5a2",
    way: "bases",
  });
  assert.equal((await run(["query", server.url, "http://example.com/key-125"])).output, "http://example.com/key-125\tpresent\n");
  await server.close();
  const refused = await run(["follow", server.url, "--once"]);
  assert.equal(refused.status, 2);
  assert.match(refused.errors, /does not answer/);
});

test("match reports that a set is not a list", async () => {
  const { status, errors } = await run(["match", `${GOLDEN}/one.snapshot`, "http://example.com/"]);
  assert.equal(status, 2);
  assert.match(errors, /only sets of url-expression are lists/);
});

test("lines may end with CR LF", async (t) => {
  const set = goldenSet(temporary(t));
  const { output } = await run(["query", set, "-"], "http://example.com/key-125\r\na\r\r\nb\r");
  assert.equal(output, "http://example.com/key-125\tpresent\na\r\tabsent\nb\tabsent\n");
});

/** Writes a list of entries as a snapshot. */
function list(directory, setName, ...entries) {
  const hashKey = HashKey.public();
  const parameters = {
    hash: hashKey.algorithm,
    keyCheck: hashKey.keyCheck,
    canonicaliser: "url-expression",
    canonicaliserVersion: 1,
    strippedParameters: null,
    shards: 1,
    falsePositiveRate: 0.001,
  };
  const about = { setName, shard: 0, sequence: 1n, windowStartMillis: 0n, windowEndMillis: 1n, parameters };
  const range = new Range(1, 1000000n);
  const hashes = entries.map((entry) => hashKey.hash(new TextEncoder().encode(entry)));
  const values = Float64Array.from(hashes, (hash) => Number((hash * range.size) >> 64n)).sort();
  const file = path.join(directory, setName + ".snapshot");
  writeFileSync(file, Snapshot.of(about, range, values, values.length).toBytes());
  return file;
}

test("match prints what makes a URL present, or absent although a list has it", async (t) => {
  const directory = temporary(t);
  const spam = list(directory, "spam", "example.org/", "example.com/");
  const good = list(directory, "good", "example.org/good/", "example.net/");
  const urls = ["http://example.com/a", "http://example.org/good/a", "http://example.net/", "http://other.example/"];
  assert.equal(
    (await run(["match", spam, ...urls, "--allow", good])).output,
    "http://example.com/a\tpresent\texample.com/\tspam\n" +
      "http://example.org/good/a\tabsent\texample.org/good/\tgood\n" +
      "http://example.net/\tabsent\nhttp://other.example/\tabsent\n"
  );
  assert.equal((await run(["match", spam, "http://example.com/a\tb"])).output, "http://example.com/a b\tpresent\texample.com/\n");
});

test("lists of one name are told apart by their places", async (t) => {
  const [one, other] = [temporary(t), temporary(t)];
  const spam = list(one, "spam", "example.org/");
  const more = list(other, "spam", "example.com/");
  const words = ["match", spam, "http://example.com/", "--list", more];
  assert.equal((await run(words)).output, `http://example.com/\tpresent\texample.com/\t${more}\n`);
  const { output } = await run([...words, "--json"]);
  assert.deepEqual(JSON.parse(output).matches, [{ set: more, entry: "example.com/" }]);
  const twice = await run(["match", spam, "a", "--allow", spam]);
  assert.deepEqual([twice.status, twice.errors], [2, `${spam}: ${spam} must be given once\n`]);
});

test("--set must be the set of a path", async (t) => {
  const set = goldenSet(temporary(t));
  assert.equal((await run(["query", set, "x", "--set", "golden"])).output, "x\tabsent\n");
  const refused = await run(["query", set, "x", "--set", "other"]);
  assert.deepEqual([refused.status, refused.output], [2, ""]);
  assert.equal(refused.errors, `${set}: set 'other' is not the one in ${set}, which is 'golden'\n`);
});

test("a byte order mark is not part of the first line", async (t) => {
  const set = goldenSet(temporary(t));
  const { output } = await run(["query", set], "\ufeffhttp://example.com/key-125\n\ufeffx");
  assert.equal(output, "http://example.com/key-125\tpresent\n\ufeffx\tabsent\n");
  assert.equal((await run(["query", set], "\ufeff")).output, "");
});

test("blobs may be in a trusted place", async (t) => {
  const set = goldenSet(temporary(t));
  const blobs = path.join(set, "elsewhere");
  renameSync(path.join(set, "blobs"), blobs);
  const missing = await run(["verify", set]);
  assert.equal(missing.status, 1);
  assert.match(missing.output, /: invalid: cannot open /);
  assert.equal((await run(["verify", set, "--blobs", blobs])).output, `${set}: valid\n`);
  assert.match((await run(["query", set, "http://example.com/key-125", "--blobs", blobs])).output, /\tpresent\n$/);
  assert.equal((await run(["apply", set, path.join(set, "out"), "--blobs", blobs])).status, 0);
  assert.equal((await run(["follow", set, "--once", "--blobs", blobs])).status, 0);
});
