import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { canonical, expressions, formOf, ruleNamed } from "../lib/canonical.js";
import { InvalidKeyError } from "../lib/errors.js";
import { entryForm, parsedEntry, parsedVisit, visitForm } from "../lib/expressions.js";
import { canonicalHost, punycode } from "../lib/hosts.js";
import { PUBLIC_SUFFIX_LIST, registrableDomain } from "../lib/suffixes.js";
import { canonicalUrl, normalParts, parsedUrl } from "../lib/urls.js";
import { moduleOf } from "../tools/suffixes.js";
import { repository } from "./support/files.js";

const vectors = (name) => JSON.parse(readFileSync(repository(`conformance/vectors/${name}.json`), "utf8"));
const formText = (rule, key, strip) => Buffer.from(canonical(rule, key, { strip })).toString("utf8");

for (const [name, rule] of Object.entries({
  url: "url-2",
  "url-3": "url",
  "url-expression": "url-expression-1",
  "url-expression-2": "url-expression",
  text: "text",
})) {
  test(`keys of ${rule} have the forms of their vectors, or none`, () => {
    const file = vectors(name);
    assert.equal(file.version, ruleNamed(rule).version);
    let refused = 0;
    for (const { key, keyHex, form, about, strip } of file.keys) {
      const bytes = key === undefined ? Buffer.from(keyHex, "hex") : Buffer.from(key, "utf8");
      const what = `${about}: ${key ?? keyHex}`;
      const spellings = key === undefined ? [bytes] : [bytes, key];
      for (const spelling of spellings) {
        if (form === null) {
          refused++;
          assert.throws(() => canonical(rule, spelling, { strip }), InvalidKeyError, what);
        } else {
          assert.equal(formText(rule, spelling, strip), form, what);
          // With its scheme again, an entry is not a pattern.
          assert.equal(formText(rule, rule.startsWith("url-expression") ? "http://" + form : form, strip), form, what);
        }
      }
    }
    assert.ok(refused > 5 && file.keys.length > 20);
  });
}

test("URLs have the expressions of their vectors", () => {
  for (const { urls, version } of [vectors("url-expression"), vectors("url-expression-2")]) {
    assert.ok(urls.length > 20);
    for (const vector of urls) {
      if (vector.expressions === null) {
        assert.throws(() => expressions(vector.url, version), InvalidKeyError, vector.url);
      } else {
        assert.deepEqual(expressions(vector.url, version), vector.expressions, vector.url);
      }
    }
  }
});

test("long and odd URLs are looked up", () => {
  assert.deepEqual(expressions("http://a.example/#" + "f".repeat(2_000_000)), ["a.example/"]);
  const bytes = Buffer.concat([Buffer.from("http://a.example/"), Buffer.of(0xff), Buffer.from("%a9?"), Buffer.of(0xfe)]);
  assert.deepEqual(expressions(bytes), ["a.example/%FF%A9?%FE", "a.example/%FF%A9", "a.example/"]);
  const host = Buffer.concat([Buffer.from("http://a"), Buffer.of(0xff), Buffer.from(".example/")]);
  for (const invalid of ["http://a.example/" + "p".repeat(2_097_152), host, "", Buffer.of()]) {
    assert.throws(() => expressions(invalid), InvalidKeyError);
  }
});

test("hosts have the registrable domains of their vectors", () => {
  const { registrableDomains, publicSuffixList } = vectors("url-expression");
  assert.equal(publicSuffixList, PUBLIC_SUFFIX_LIST);
  assert.ok(registrableDomains.length > 40);
  for (const vector of registrableDomains) {
    assert.equal(registrableDomain(vector.host), vector.registrableDomain, vector.host);
  }
});

test("the rules of public suffixes match the data file", () => {
  const section = readFileSync(repository("clients/javascript/data/public_suffix_list_icann.dat"), "utf8");
  assert.equal(readFileSync(repository("clients/javascript/lib/suffix-rules.js"), "utf8"), moduleOf(section));
});

/** The tables of docs/format/text-v1.md. */
function textTable(title) {
  const page = readFileSync(repository("docs/format/text-v1.md"), "utf8");
  const section = page.slice(page.indexOf(`## ${title}`)).split("\n## ")[0];
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  const unescaped = (cell) => cell.trim().replace(/`/g, "").replace(/\{([0-9A-F]+)\}/g, (_, hex) => String.fromCodePoint(parseInt(hex, 16)));
  return rows.map((row) => row.slice(1, -1).split(" | ").map(unescaped));
}

test("texts meet as the page of the rule says", () => {
  const rows = textTable("Texts with the same form");
  assert.ok(rows.length >= 17);
  for (const [one, other, form] of rows) {
    assert.equal(formText("text", one), form);
    assert.equal(formText("text", other), form);
    assert.equal(formText("text", form), form);
  }
});

test("texts stay apart as the page of the rule says", () => {
  const rows = textTable("Texts with different forms");
  assert.ok(rows.length >= 17);
  for (const [one, other] of rows) {
    assert.notEqual(formText("text", one), formText("text", other));
  }
});

test("texts without a form are rejected", () => {
  for (const text of ["", " ", "\u200b\u0000", "\ufeff"]) {
    assert.throws(() => canonical("text", text), InvalidKeyError);
  }
  assert.equal(formText("text", "a" + "\u0301".repeat(40)), formText("text", "a" + "\u0301".repeat(30)));
  assert.notEqual(formText("text", "a" + "\u0301".repeat(29)), formText("text", "a" + "\u0301".repeat(30)));
});

/** The code points of private use and those that Unicode 13 assigns, as the tests of the JVM have them. */
function* assignedInUnicode13() {
  const file = repository("filters/src/test/resources/io/firstseen/filters/key/unicode-13-assigned.txt");
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const match = /^([0-9A-F]+)(?:(?:\.\.|-)([0-9A-F]+))?\s*$/i.exec(line.trim());
    if (match !== null) {
      const first = parseInt(match[1], 16);
      const last = match[2] === undefined ? first : parseInt(match[2], 16);
      for (let codePoint = first; codePoint <= last; codePoint++) {
        yield String.fromCodePoint(codePoint);
      }
    }
  }
}

function digestOf(formOfCharacter) {
  const digest = createHash("sha256");
  let forms = 0;
  for (const character of assignedInUnicode13()) {
    let form = "";
    try {
      form = formOfCharacter(character);
      forms++;
    } catch (error) {
      assert.ok(error instanceof InvalidKeyError, error);
    }
    digest.update(form + "\n");
  }
  return { forms, digest: digest.digest("hex") };
}

// The Java tests have the same digests, so runtimes with other Unicode versions must agree on all of them.
test("characters of Unicode 13 fold as on the JVM", () => {
  assert.deepEqual(digestOf((character) => formOf(ruleNamed("text"), `a${character}b`)), {
    forms: 281392,
    digest: "0ce86bb07c90096a8d1611c875aa3387f5a33e42907ebb9a82cc5c483d75549f",
  });
});

test("hosts of characters of Unicode 13 have the forms of the JVM", () => {
  assert.deepEqual(digestOf((character) => canonicalHost(`a${character}b.example`, false)), {
    forms: 281241,
    digest: "ce5420929ae86016af53091f56b54f4d32e1403d515df5eb03c50815daf527a6",
  });
});

test("Punycode matches RFC 3492", () => {
  assert.equal(punycode("ليهمابتكلموشعربي؟"), "egbpdaj6bu4bxfgehfvwxn");
  assert.equal(punycode("他们为什么不说中文"), "ihqwcrb4cv8a8dqg056pqjye");
  assert.equal(punycode("Pročprostěnemluvíčesky"), "Proprostnemluvesky-uyb24dma41a");
});

test("keys have bounds", () => {
  for (const rule of ["none", "url", "text", "url-expression"]) {
    assert.throws(() => canonical(rule, ""), { name: "InvalidKeyError", message: "key is empty" });
    assert.throws(() => canonical(rule, "a".repeat(65537)), {
      message: "key must be at most 65536 bytes, got 65537",
    });
    assert.throws(() => canonical(rule, new Uint8Array(65537).fill(97)), InvalidKeyError);
    assert.throws(() => canonical(rule, "a\ud800b"), InvalidKeyError);
    assert.throws(() => canonical(rule, 7), TypeError);
  }
  assert.equal(canonical("none", "ü".repeat(32768)).length, 65536);
  assert.throws(() => canonical("none", "ü".repeat(32769)), InvalidKeyError);
  assert.throws(() => canonical("url", "a.example/" + "ü".repeat(12000)), {
    message: "canonical key must be at most 65536 bytes, got 72017",
  });
  assert.throws(() => canonical("url", Uint8Array.of(0xff)), { message: "key is not UTF-8" });
  assert.throws(() => canonical("md5", "a"), RangeError);
});

function formOrRefusal(rule, key) {
  try {
    return rule(key);
  } catch (error) {
    assert.ok(error instanceof InvalidKeyError, error);
    return error.message;
  }
}

test("the fast path for canonical keys matches the steps of the rules", () => {
  const files = ["url", "url-expression"].map(vectors);
  const forms = files.flatMap(({ keys }) => keys.flatMap(({ key = "", form }) => [key, form ?? ""]));
  const pages = files[1].urls.map(({ url }) => url);
  const pieces = ["http://", "https://", "a.example", "/", "/b", "/.", "/b.c", "//", "?", "x=1", "&", "=", "Z", "0x", ".1", "-", "%41", "*"];
  let state = 1;
  const any = () => pieces[(state = (Math.imul(state, 1664525) + 1013904223) >>> 0) % 4294967291 % pieces.length];
  const made = Array.from({ length: 20000 }, () => any() + "a.example" + any() + any() + any() + any());
  let taken = 0;
  for (const key of [...forms, ...pages, ...made]) {
    if (normalParts(key) !== null) {
      taken++;
      assert.equal(canonicalUrl(key), parsedUrl(key));
      assert.equal(visitForm(key), parsedVisit(key));
      assert.equal(formOrRefusal(entryForm, key), formOrRefusal(parsedEntry, key));
    }
  }
  assert.ok(taken > 1000, `${taken}`);
});

test("long keys that look like much take little time", () => {
  const long = (pattern) => pattern.repeat(Math.floor(65000 / pattern.length));
  const started = performance.now();
  for (const key of [long(" "), "a" + long(" ") + "b", long("#@"), "|" + long("$,"), long("1:"), long("%"), long("&="), long("/.."), long("a$to=") + ",x", "a$" + long("script,")]) {
    for (const rule of ["url", "url-expression"]) {
      try {
        canonical(rule, key);
      } catch (error) {
        assert.ok(error instanceof InvalidKeyError, error);
      }
    }
  }
  assert.ok(performance.now() - started < 3000);
});
