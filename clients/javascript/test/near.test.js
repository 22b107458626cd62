import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { HashKey, MalformedError, canonical } from "../index.js";
import { folded } from "../lib/look-alikes.js";
import { TextSignature, parseRule } from "../lib/near.js";
import { repository } from "./support/files.js";

const PAGE = readFileSync(repository("docs/format/near-v1.md"), "utf8");
const RULES = {
  short: "characters:4,32x5,2",
  long: "words:3,20x9,1",
  "short+fold": "characters:4,32x5,2+fold",
  "long+fold": "words:3,20x9,1+fold",
};
const formOf = (text) => Buffer.from(canonical("text", text)).toString("utf8");

test("the page has the bands of its example", () => {
  const rows = Array.from(PAGE.matchAll(/^\| `(\S+)` \| `([0-9a-f]{16})` \|$/gm));
  assert.equal(rows.length, 4);
  for (const [, name, first] of rows) {
    const signature = new TextSignature(parseRule(RULES[name]), HashKey.public());
    const [band] = signature.bands(formOf("claim your free prize now."), new Uint8Array(0));
    assert.equal(band.toString(16).padStart(16, "0"), first);
  }
});

test("the page has the table and the forms of its examples", () => {
  const module = readFileSync(repository("clients/javascript/lib/look-alikes.js"), "utf8");
  assert.equal(/```text\n([^`]*)```/.exec(PAGE)[1], /`\n([^`]*)`/.exec(module)[1]);
  const rows = Array.from(PAGE.matchAll(/^\| `(.+)` \| `(.+)` \| `(.+)` \|$/gm));
  assert.equal(rows.length, 8);
  for (const [, text, characters, words] of rows) {
    const form = formOf(text.replace(/\{([0-9A-F]{4})\}/g, (_, code) => String.fromCodePoint(parseInt(code, 16))));
    assert.deepEqual([folded(form, false), folded(form, true)], [characters, words]);
  }
});

test("a rule has one form", () => {
  Object.values(RULES).forEach(parseRule);
  for (const wrong of ["short", "characters:04,32x5,2", "words:3,18x8,3", "words:17,18x8,1", "words:3,1x8,2"]) {
    assert.throws(() => parseRule(wrong), MalformedError);
  }
});
