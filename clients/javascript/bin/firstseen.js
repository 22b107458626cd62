#!/usr/bin/env node
import { main } from "../cli.js";

// The program ends if its reader, such as head, closes the pipe.
process.stdout.on("error", () => process.exit(2));

process.exitCode = await main(process.argv.slice(2), {
  input: process.stdin,
  out: (text) => process.stdout.write(text),
  error: (text) => process.stderr.write(text),
});
