#!/usr/bin/env node
import { main } from "../cli.js";

// A reader that goes away, such as head, ends the program.
process.stdout.on("error", () => process.exit(2));

process.exitCode = await main(process.argv.slice(2), {
  input: process.stdin,
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
});
