#!/usr/bin/env node
// Generates lib/suffix-rules.js from the ICANN section of the public suffix list: node tools/suffixes.js

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { canonicalHost } from "../lib/hosts.js";

const SECTION = new URL("../data/public_suffix_list_icann.dat", import.meta.url);
const MODULE = new URL("../lib/suffix-rules.js", import.meta.url);

/** Returns the module for the text of the section. */
export function moduleOf(section) {
  const rules = section
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("//"))
    .map((line) => {
      const [, mark, name] = /^(!|\*\.|)(.*)$/.exec(line);
      return mark + canonicalHost(name, false);
    });
  const lines = [];
  for (const rule of rules) {
    const last = lines.length - 1;
    if (last >= 0 && lines[last].length + rule.length < 116) {
      lines[last] += " " + rule;
    } else {
      lines.push(rule);
    }
  }
  return `// Made by tools/suffixes.js of data/public_suffix_list_icann.dat: the rules of the ICANN section of the public
// suffix list (https://publicsuffix.org/list/), hosts in canonical form.
//
// This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0. If a copy of the MPL was not
// distributed with this file, You can obtain one at https://mozilla.org/MPL/2.0/.

export const RULES =
${lines.map((line) => `  "${line} "`).join(" +\n")};
`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(MODULE, moduleOf(readFileSync(SECTION, "utf8")));
}
