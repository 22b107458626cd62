import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import * as core from "../index.js";
import * as node from "../node.js";
import { repository } from "./support/files.js";

const root = repository("clients/javascript");
const read = (file) => readFileSync(path.join(root, file), "utf8");
const typed = (file) => Array.from(read(file).matchAll(/^export (?:class|function|const) (\w+)/gm), ([, name]) => name);

test("types are there for all that is exported, and for nothing else", () => {
  assert.deepEqual(typed("index.d.ts").sort(), Object.keys(core).sort());
  assert.deepEqual([...typed("index.d.ts"), ...typed("node.d.ts")].sort(), Object.keys(node).sort());
});

test("browsers can load what is not of Node", () => {
  const modules = ["index.js", ...readdirSync(path.join(root, "lib")).map((file) => `lib/${file}`)];
  for (const file of modules) {
    const text = read(file);
    for (const [, imported] of text.matchAll(/^(?:import|export) [^;]*?from "([^"]+)";/gm)) {
      assert.match(imported, /^\.\.?\/[a-z0-9/-]+\.js$/, file);
      assert.ok(modules.includes(path.join(path.dirname(file), imported)), `${file} imports ${imported}`);
    }
    assert.doesNotMatch(text, /\b(?:process|Buffer|require\(")\b/, file);
  }
});

test("the package has all files that it names", () => {
  const { files, exports, bin } = JSON.parse(read("package.json"));
  const named = [...files, ...Object.values(exports).flatMap(Object.values), ...Object.values(bin)];
  for (const file of named) {
    assert.ok(existsSync(path.join(root, file)), file);
  }
});
