import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { GOLDEN } from "./files.js";

/** A golden file, in a copy that may be changed. */
export function golden(name) {
  return Uint8Array.from(readFileSync(path.join(GOLDEN, name)));
}

export function goldenNames(ending) {
  return readdirSync(GOLDEN).filter((name) => name.endsWith(ending));
}

/** The golden blobs by their digests. */
export function goldenBlobs() {
  return new Map(
    goldenNames(".blob").map((name) => {
      const bytes = golden(name);
      return [createHash("sha256").update(bytes).digest("hex"), bytes];
    })
  );
}

/** Writes the golden set into a directory, as a publisher does. */
export function goldenSet(directory, manifest = "manifest.bin", sequence = 5) {
  mkdirSync(path.join(directory, "blobs"), { recursive: true });
  for (const [digest, bytes] of goldenBlobs()) {
    writeFileSync(path.join(directory, "blobs", digest), bytes);
  }
  const name = `manifest-${String(sequence).padStart(10, "0")}.bin`;
  writeFileSync(path.join(directory, name), golden(manifest));
  return directory;
}
