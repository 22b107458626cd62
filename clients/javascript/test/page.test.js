// What the page of the service does with sets that it has downloaded; PageTest looks at it in a browser.

import assert from "node:assert/strict";
import { copyFileSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { HashKey, Manifest } from "../node.js";
import { crc32c } from "../lib/bytes.js";
import { repository, temporary } from "./support/files.js";
import { golden } from "./support/golden.js";
import { service } from "./support/service.js";

const PAGE = repository("snapshot-server/src/main/resources/io/firstseen/server/page");

/** The page's sets, as a browser has them that got the page from a service. */
async function localSets(t, url) {
  const directory = temporary(t);
  writeFileSync(path.join(directory, "package.json"), '{"type":"module"}');
  copyFileSync(path.join(PAGE, "offline.js"), path.join(directory, "offline.js"));
  symlinkSync(repository("clients/javascript"), path.join(directory, "firstseen"));
  globalThis.location = { href: url };
  t.after(() => delete globalThis.location);
  const { LocalSets } = await import(pathToFileURL(path.join(directory, "offline.js")));
  return new LocalSets(() => {});
}

/** The golden set that holds nothing, as a list: its canonicaliser, behind the key check, is url-expression. */
function listOfNothing() {
  const bytes = golden("manifest-of-nothing.bin");
  const end = bytes.length - 4;
  const keyCheck = Buffer.alloc(8);
  keyCheck.writeBigUInt64LE(HashKey.public().keyCheck);
  bytes[Buffer.from(bytes).indexOf(keyCheck) + 8] = 3;
  new DataView(bytes.buffer).setUint32(end, crc32c(bytes.subarray(0, end)), true);
  assert.equal(Manifest.read(bytes).parameters.canonicaliser, "url-expression");
  return bytes;
}

async function until(condition) {
  for (const end = Date.now() + 5000; !condition(); ) {
    assert.ok(Date.now() < end, `${condition}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("the page does not answer by lists that allow sets override", async (t) => {
  const server = await service(t);
  server.answers.set("/v1/manifest?set=golden", listOfNothing());
  const sets = await localSets(t, server.url);
  await sets.know("golden", 10);
  sets.knowAllowSets([]);
  assert.deepEqual(sets.stateOf("golden").allowSets, []);
  sets.toggle("golden");
  t.after(() => sets.knowAllowSets(["end"]));
  await until(() => sets.answers("golden"));
  assert.equal(sets.ask("golden", "http://example.com/").present, false);

  // The service was started again, with an allow set.
  sets.knowAllowSets(["good"]);
  assert.equal(sets.answers("golden"), false);
  assert.deepEqual(sets.stateOf("golden").allowSets, ["good"]);
  sets.toggle("golden");
  assert.equal(sets.stateOf("golden").isOn, false);
});

test("the page answers by sets of keys whatever allow sets there are", async (t) => {
  const server = await service(t);
  server.answers.set("/v1/manifest?set=golden", golden("manifest-of-nothing.bin"));
  const sets = await localSets(t, server.url);
  await sets.know("golden", 10);
  sets.knowAllowSets(["good"]);
  assert.deepEqual(sets.stateOf("golden").allowSets, []);
  sets.toggle("golden");
  await until(() => sets.answers("golden"));
  sets.toggle("golden");
  assert.equal(sets.answers("golden"), false);
});
