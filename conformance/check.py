#!/usr/bin/env python3
"""Checks a reader against the cases of this folder; Python 3.8 or later, standard library alone.

    python3 conformance/check.py [--json] [--strict] [--only TOPIC]... [--timeout SECONDS] -- COMMAND...

Starts COMMAND, the adapter of the reader, sends it a request a line and compares its answers; README.md
says which requests there are. Prints each difference and a table of the topics.

The exit status is 0 if all answers are right (what the reader does not support is counted apart, and is wrong with --strict),
1 if any is wrong or missing, 2 for a wrong command line or an adapter that does not start.
"""

import argparse
import collections
import json
import os
import queue
import subprocess
import sys
import threading

FOLDER = os.path.dirname(os.path.abspath(__file__))
# The fields of requests that are paths in this folder.
PATHS = ("file", "directory", "from", "to")
MAX_LINE_BYTES = 1 << 24
SHOWN_CHARACTERS = 1000
GRACE_SECONDS = 5

Case = collections.namedtuple("Case", "topic about request answer")


class Stopped(Exception):
    """The adapter cannot be asked any more."""


# --- The cases ----------------------------------------------------------------------------------


def of_vectors(topic, vectors):
    """Keys with their forms, and URLs with their expressions."""
    for vector in vectors["keys"]:
        request = {"op": "canonical", "canonicaliser": vectors["canonicaliser"]}
        request.update((name, vector[name]) for name in ("strip", "key", "keyHex") if name in vector)
        form = vector["form"]
        answer = {"refused": True} if form is None else {"form": form.encode().hex()}
        yield Case(topic, vector["about"], request, answer)
    for vector in vectors.get("urls", ()):
        request = {
            "op": "expressions",
            "canonicaliser": vectors["canonicaliser"],
            "url": vector["url"],
        }
        wanted = vector["expressions"]
        answer = {"refused": True} if wanted is None else {"expressions": wanted}
        yield Case(topic, "the expressions of a URL", request, answer)


def of_cases(topic, cases):
    for case in cases["cases"]:
        request = dict(case["request"])
        for field in PATHS:
            if field in request:
                request[field] = os.path.join(FOLDER, *request[field].split("/"))
        yield Case(topic, case["about"], request, case["answer"])


def topics():
    """The folder of each topic, which is the name of a file there."""
    found = {}
    for folder in ("vectors", "cases"):
        for name in sorted(os.listdir(os.path.join(FOLDER, folder))):
            topic, extension = os.path.splitext(name)
            if extension == ".json":
                found[topic] = folder
    return found


def cases_of(topic, folder):
    with open(os.path.join(FOLDER, folder, topic + ".json"), encoding="utf-8") as file:
        return list((of_vectors if folder == "vectors" else of_cases)(topic, json.load(file)))


# --- The adapter --------------------------------------------------------------------------------


class Adapter:
    """The reader as a process that answers requests."""

    def __init__(self, command, timeout):
        self.timeout = timeout
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while True:
            line = self.process.stdout.readline(MAX_LINE_BYTES)
            self.lines.put(line)
            if not line.endswith(b"\n"):
                return

    def ask(self, request):
        """The answer, or Stopped."""
        try:
            self.process.stdin.write(json.dumps(request).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            # What it said before is not an answer to this request.
            raise Stopped(self.how_it_ended())
        try:
            line = self.lines.get(timeout=self.timeout)
        except queue.Empty:
            raise Stopped(f"it did not answer within {self.timeout:g} s")
        if not line:
            raise Stopped(self.how_it_ended())
        if not line.endswith(b"\n"):
            raise Stopped(f"its answer must be a line of at most {MAX_LINE_BYTES} bytes")
        try:
            return json.loads(line)
        except ValueError:
            return line.decode("utf-8", "replace").rstrip("\n")

    def how_it_ended(self):
        try:
            return f"it ended with status {self.process.wait(GRACE_SECONDS)}"
        except subprocess.TimeoutExpired:
            return "it closed its standard input or output"

    def end(self, at_once):
        """Lets it end by itself unless it must end at once."""
        try:
            self.process.stdin.close()
            self.process.wait(0 if at_once else GRACE_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()


# --- Comparing ----------------------------------------------------------------------------------


def plain(value):
    """Integers count as decimals, whether they are numbers or strings."""
    if isinstance(value, list):
        return [plain(each) for each in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def difference(wanted, got):
    """What is wrong with an answer; None if nothing is."""
    if not isinstance(got, dict):
        return "an object is wanted"
    if "refused" in wanted:
        return None if isinstance(got.get("refused"), str) else "must be rejected with a message"
    wrong = [field for field in wanted if field not in got or plain(got[field]) != plain(wanted[field])]
    return "wrong " + ", ".join(wrong) if wrong else None


def shown(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}… ({len(text)} characters)"


def check(cases_by_topic, adapter, options):
    """The row of each topic, why the adapter stopped if it did, and whether it answered anything at all."""
    rows, stopped, answered = [], None, False
    for topic, cases in cases_by_topic.items():
        row = {"topic": topic, "cases": len(cases), "failed": 0, "unsupported": 0, "differences": []}
        rows.append(row)
        for case in cases:
            if stopped:
                row["failed"] += 1
                continue
            got = None
            try:
                got = adapter.ask(case.request)
                answered = True
                if isinstance(got, dict) and got.get("unsupported") is True:
                    row["unsupported"] += 1
                    wrong = "must be supported" if options.strict else None
                else:
                    wrong = difference(case.answer, got)
            except Stopped as reason:
                stopped, wrong = str(reason), f"no answer: {reason}"
            if wrong:
                row["failed"] += 1
                row["differences"].append(
                    {"about": case.about, "wrong": wrong, "request": case.request, "wanted": case.answer, "got": got}
                )
                if answered and not options.json:
                    print(f"{topic}: {case.about}: {wrong}")
                    for name, value in (("request", case.request), ("wanted", case.answer), ("got", got)):
                        print(f"  {name:8} {shown(value)}")
    return rows, stopped, answered


def print_table(rows):
    width = max(len(row["topic"]) for row in rows)
    print(f"{'topic':{width}}  cases  failed  unsupported")
    total = {"topic": "all"}
    for name in ("cases", "failed", "unsupported"):
        total[name] = sum(row[name] for row in rows)
    for row in rows + [total]:
        print(f"{row['topic']:{width}}  {row['cases']:5}  {row['failed']:6}  {row['unsupported']:11}")


# --- The command --------------------------------------------------------------------------------


def options_of(arguments, known):
    parser = argparse.ArgumentParser(
        description="Checks a reader against the cases of this folder.",
        usage="check.py [--json] [--strict] [--only TOPIC]... [--timeout SECONDS] -- COMMAND...",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of the table")
    parser.add_argument("--strict", action="store_true", help="count what is unsupported as failed, too")
    parser.add_argument("--only", metavar="TOPIC", action="append", choices=known, help=", ".join(known))
    parser.add_argument("--timeout", metavar="SECONDS", type=float, default=30, help="for each answer (30)")
    if "--" not in arguments:
        # Also the way to --help.
        parser.parse_args(arguments)
        parser.error("-- and the command of the adapter are missing")
    at = arguments.index("--")
    options = parser.parse_args(arguments[:at])
    options.command = arguments[at + 1 :]
    if not options.command:
        parser.error("the command of the adapter is missing")
    if not 0 < options.timeout <= 3600:
        parser.error(f"--timeout must be above 0, at most 3600, got {options.timeout:g}")
    return options


def main(arguments):
    folders = topics()
    options = options_of(arguments, list(folders))
    asked = {topic: cases_of(topic, folders[topic]) for topic in folders if topic in (options.only or folders)}
    try:
        adapter = Adapter(options.command, options.timeout)
    except OSError as error:
        print(f"cannot start {options.command[0]}: {error.strerror}", file=sys.stderr)
        return 2
    stopped = "interrupted"
    try:
        rows, stopped, answered = check(asked, adapter, options)
    finally:
        adapter.end(at_once=bool(stopped))
    if stopped and not answered:
        print(f"the adapter did not start: {stopped}", file=sys.stderr)
        return 2
    failed = any(row["failed"] for row in rows)
    if options.json:
        print(json.dumps({"passed": not failed, "stopped": stopped, "topics": rows}, ensure_ascii=False, indent=2))
    else:
        print_table(rows)
        if stopped:
            print(f"the adapter stopped: {stopped}; all further cases count as failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
