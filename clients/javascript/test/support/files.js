import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** A file of the repository, whose files these tests share with those of the JVM. */
export function repository(file) {
  return fileURLToPath(new URL("../../../../" + file, import.meta.url));
}

export const GOLDEN = repository("filters/src/test/resources/io/firstseen/filters/snapshot/golden-v1");

/** A directory that goes with the test. */
export function temporary(t) {
  const directory = mkdtempSync(path.join(tmpdir(), "firstseen-"));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}
