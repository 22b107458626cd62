"""The command line: python3 -m firstseen VERB …

    info PATH                           prints the header of a manifest, snapshot or blob
    verify PATH [--public-key FILE]     verifies a set, a snapshot or a blob
    query PATH [KEY...|-]               looks up keys in a set
    match LIST [URL...|-]               matches URLs against lists, or texts against a set with --near
    follow SOURCE                       prints a line for each newer snapshot of a set
    apply PATH OUTPUT [--from PATH]     writes the snapshot of each shard of a set

PATH is a directory of snapshots (its newest manifest), a manifest in a directory, or the snapshot of a
shard. info and verify also accept a blob. For a manifest, verify builds the set from its bases, checks
root and count, and reads the retained packs.

The exit status is 0 on success, 1 if verify finds invalid data or no trusted signature, 4 if a key or
URL of query or match could not be evaluated, and 2 for any other error, with one line on standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import re
import sys
import warnings
from datetime import datetime, timezone
from typing import Any, Iterator, Optional, Union

from . import follow, open_manifest
from .bits import Reference
from .blobs import BLOB_MAGIC, BLOB_NAMES, CHANGE, Base, BaseList, Blob, Pack, open_blob
from .catchup import CatchUp, Held, require_same_set
from .errors import (
    FirstseenError,
    InvalidKeyError,
    MalformedError,
    MissingBlobError,
    OutOfReachError,
    UnreachableError,
    UnsupportedError,
    UntrustedError,
)
from .follow import Update
from .kafka import KafkaSource
from .keyhash import KeyHash
from .manifest import MANIFEST_MAGIC, ONLY_MANIFESTS, Manifest
from .sets import SnapshotSet, UrlAnswer, UrlLists
from .signature import TrustedKey, require_signed
from .snapshot import Snapshot, snapshot_bytes
from .sources import DirectorySource, HttpSource, blob_from, manifest_in, read_file

Opened = Union[Manifest, Snapshot, Blob]
# The maximum number of bytes to read from standard input at once.
_AT_ONCE = 1 << 18
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Characters of a URL that would end a field or line of the output.
_FIELD_ENDS = re.compile(r"[\t\r\n]")


def open_path(path: str) -> tuple[Opened, Optional[DirectorySource]]:
    """Opens a path; also returns the directory of a manifest."""
    if os.path.isdir(path):
        return open_manifest(path)
    data = read_file(path)
    if data.startswith(MANIFEST_MAGIC):
        return manifest_in(path, data), DirectorySource(os.path.dirname(path))
    return (open_blob(data) if data.startswith(BLOB_MAGIC) else Snapshot(data)), None


class _Blobs:
    """Loads blobs from the directory of a manifest, from --blobs, or from the place in a trusted manifest."""

    def __init__(self, manifest: Manifest, directory: DirectorySource, options: argparse.Namespace) -> None:
        keys = _trusted(options)
        if keys:
            require_signed(manifest, keys)
        self._directory = directory
        self._elsewhere = options.blobs or (manifest.blobs if keys else None)
        self._named = manifest.blobs

    def __call__(self, reference: Reference) -> bytes:
        try:
            return self._directory.blob(reference)
        except MissingBlobError:
            if self._elsewhere is not None:
                return blob_from(self._elsewhere, reference)
            if self._named is not None:
                raise OutOfReachError(
                    f"blob {reference.name} is in {self._named}: give --public-key, or that place by --blobs"
                ) from None
            raise


def _trusted(options: argparse.Namespace) -> list[TrustedKey]:
    return [TrustedKey.from_file(path) for path in options.public_key or ()]


def _hash_key(options: argparse.Namespace) -> KeyHash:
    """Returns the key of the option, otherwise of the environment, otherwise the public key."""
    of_environment = os.environ.get("FIRSTSEEN_HASH_KEY", "").strip()
    if options.hash_key_file is not None or not of_environment:
        return KeyHash.from_file(options.hash_key_file or "public")
    try:
        return KeyHash.parse(of_environment)
    except UnsupportedError as error:
        raise UnsupportedError(f"FIRSTSEEN_HASH_KEY: {error}") from None


def _shards(path: str, options: argparse.Namespace) -> tuple[Manifest, CatchUp]:
    """Opens a manifest and returns it with a loader of its set."""
    opened, directory = open_path(path)
    if not isinstance(opened, Manifest) or directory is None:
        raise UnsupportedError("this is neither a manifest nor a directory of snapshots")
    return opened, CatchUp(opened, _Blobs(opened, directory, options))


# --- info ---------------------------------------------------------------------------------------


def _parameter_rows(opened: Union[Manifest, Snapshot]) -> dict[str, Any]:
    parameters = opened.parameters
    rows = {
        "set": opened.set_name,
        "sequence": opened.sequence,
        "window start": f"{opened.window_start_millis} ms",
        "window end": f"{opened.window_end_millis} ms",
        "false-positive rate": parameters.false_positive_rate,
        "hash": f"{parameters.hash_name}, key check {parameters.key_check:016x}",
        "canonicaliser": f"{parameters.canonicaliser_name} {parameters.canonicaliser_version}",
    }
    if parameters.stripped:
        rows["stripped parameters"] = parameters.stripped
    return rows


def _snapshot_rows(snapshot: Snapshot) -> dict[str, Any]:
    header = snapshot.header
    size = f"payload {header.payload_bytes}, bucket starts {header.bucket_starts_bytes}"
    return {
        **_parameter_rows(snapshot),
        "shard": f"{snapshot.shard} of {header.shard_count}",
        "keys": header.hash_count,
        "values": f"{header.value_count} of {snapshot.range}, in {header.buckets} buckets of {header.width}",
        "golomb parameter": header.golomb_parameter,
        "bytes": f"{snapshot.length}, of which {size}",
        "set digest": header.set_digest.hex(),
    }


def _named(reference: Optional[Reference]) -> str:
    return "none" if reference is None else f"{reference.name}, {reference.length} bytes"


def _manifest_rows(manifest: Manifest) -> dict[str, Any]:
    key = manifest.signature_key
    return {
        **_parameter_rows(manifest),
        "published": f"{manifest.published_millis} ms",
        "expires": "never" if manifest.expires_millis is None else f"{manifest.expires_millis} ms",
        "shards": manifest.parameters.shard_count,
        "keys": manifest.count,
        "root": manifest.root.hex(),
        "newest pack": _named(manifest.pack),
        "bytes of all packs": manifest.pack_bytes,
        "blobs": manifest.blobs or "with the manifest",
        "extension": "none" if manifest.extension is None else f"{len(manifest.extension)} bytes",
        "signature": "none" if key is None else f"of the key {key.hex()}, not checked",
    }


def _blob_rows(blob: Blob) -> dict[str, Any]:
    rows: dict[str, Any] = {"kind": BLOB_NAMES[blob.kind], "set": blob.set_name, "bytes": blob.length}
    sections = blob.all_sections()
    if isinstance(blob, Base):
        whole = blob.section
        return {
            **rows,
            "shard": blob.shard,
            "keys": whole.count + whole.hidden,
            "values": f"{whole.count} of {whole.buckets * whole.width}, in {whole.buckets} buckets of {whole.width}",
        }
    if isinstance(blob, BaseList):
        bases = [base for base in blob.bases if base]
        rows["sequence"] = blob.sequence
        rows["shards"] = len(blob.bases)
        rows["bases"] = f"{len(bases)}, {sum(base.length for base in bases)} bytes"
    elif isinstance(blob, Pack):
        rows["sequence"] = blob.sequence
        rows["pack before"] = _named(blob.before)
        rows["kept from"] = blob.kept_from
        rows["list of bases"] = _named(blob.bases)
        rows["list and bases"] = f"{blob.bases_bytes} bytes"
        rows["packs since"] = f"{blob.packs_since} bytes"
    changes = [section for section in sections if section.kind == CHANGE]
    rows["sections"] = f"{len(sections)}, {sum(section.length for section in sections)} bytes"
    rows["whole sets"] = len(sections) - len(changes)
    rows["added values"] = sum(section.count for section in changes)
    rows["removed values"] = sum(section.removed for section in changes)
    return rows


def _info(options: argparse.Namespace) -> int:
    opened, _ = open_path(options.path)
    if isinstance(opened, Manifest):
        rows = _manifest_rows(opened)
    else:
        rows = _snapshot_rows(opened) if isinstance(opened, Snapshot) else _blob_rows(opened)
    for name, value in rows.items():
        print(f"{name:20} {value}")
    return 0


# --- verify and apply ---------------------------------------------------------------------------


def _verify(options: argparse.Namespace) -> int:
    path = options.path
    try:
        opened, directory = open_path(path)
        if isinstance(opened, Manifest) and directory is not None:
            CatchUp(opened, _Blobs(opened, directory, options)).verify()
        elif options.public_key:
            raise UnsupportedError(ONLY_MANIFESTS)
        elif not isinstance(opened, Manifest):
            opened.verify()
    except (MalformedError, MissingBlobError, UntrustedError) as refusal:
        print(f"{path}: invalid: {refusal}")
        return 1
    if isinstance(opened, Manifest) and opened.signature_key is not None:
        note = f", signed by {opened.signature_key.hex()}" if options.public_key else ", its signature is not checked"
    else:
        note = ""
    print(f"{path}: valid{note}")
    return 0


def _apply(options: argparse.Namespace) -> int:
    """Writes the snapshot of each shard that ever had a key."""
    manifest, way = _shards(options.path, options)
    if options.held is None:
        shards = way.by_bases()
    else:
        held, way_there = _shards(options.held, options)
        require_same_set(manifest, held)
        shards = way.by_packs(Held(held, way_there.by_bases()))
    os.makedirs(options.output, exist_ok=True)
    written = 0
    for shard in shards:
        if shard is not None:
            data = snapshot_bytes(
                manifest.set_name,
                manifest.parameters,
                manifest.sequence,
                manifest.window_start_millis,
                manifest.window_end_millis,
                shard,
            )
            written += len(data)
            with open(os.path.join(options.output, f"{shard.number}.snapshot"), "wb") as file:
                file.write(data)
    print(f"{options.output}: {written} bytes")
    return 0


# --- query and match ----------------------------------------------------------------------------


def _questions(given: list[str]) -> Iterator[list[bytes]]:
    """Yields the queries of the command line, or of standard input, one per line, without a byte order mark."""
    if given and given != ["-"]:
        yield [os.fsencode(one) for one in given]
        return
    rest, unwanted = b"", _BYTE_ORDER_MARK
    # Does not wait for more input: the writer may wait for the answer to its line.
    while chunk := sys.stdin.buffer.read1(_AT_ONCE):
        *lines, rest = (rest + chunk).split(b"\n")
        if lines:
            lines[0] = lines[0].removeprefix(unwanted)
            unwanted = b""
            yield [line.removesuffix(b"\r") for line in lines]
    rest = rest.removeprefix(unwanted)
    if rest:
        yield [rest.removesuffix(b"\r")]


def _query(options: argparse.Namespace) -> int:
    key_hash = _hash_key(options)
    scope = os.fsencode(options.scope)
    opened, directory = open_path(options.path)
    whole: Optional[SnapshotSet] = None
    if isinstance(opened, Blob):
        raise UnsupportedError(f"this is {BLOB_NAMES[opened.kind]}; keys are looked up in a snapshot or a directory")
    opened.parameters.require_hash(key_hash)
    # Rejects an unknown version of the rule before reading.
    opened.parameters.canonicaliser()
    if isinstance(opened, Manifest):
        assert directory is not None
        shards = CatchUp(opened, _Blobs(opened, directory, options)).by_bases()
        whole = SnapshotSet.of_manifest(opened, shards, key_hash)
    elif options.public_key:
        raise UnsupportedError(ONLY_MANIFESTS)
    elif opened.parameters.shard_count == 1 and not options.questions:
        whole = SnapshotSet.of_snapshot(opened, key_hash)
    out = sys.stdout.buffer
    invalid = 0
    for keys in _questions(options.questions):
        for key, found in zip(keys, _answers(whole or opened, scope, key_hash, keys)):
            if isinstance(found, InvalidKeyError):
                invalid += 1
                out.write(key + b"\tinvalid\t" + _field(str(found)).encode("utf-8") + b"\n")
            else:
                out.write(key + (b"\tpresent\n" if found else b"\tabsent\n"))
        out.flush()
    return _status(invalid)


def _answers(
    opened: Union[SnapshotSet, Opened], scope: bytes, key_hash: KeyHash, keys: list[bytes]
) -> list[Union[bool, InvalidKeyError]]:
    if isinstance(opened, SnapshotSet):
        try:
            return list(opened.contains_each(keys, scope))
        except InvalidKeyError:
            pass
    answers: list[Union[bool, InvalidKeyError]] = []
    for key in keys:
        try:
            if isinstance(opened, SnapshotSet):
                answers.append(opened.contains(key, scope))
            else:
                # Does not decode the whole file; rejects keys of a different shard.
                assert isinstance(opened, Snapshot)
                answers.append(opened.contains_hash(opened.parameters.hash(key, scope, key_hash)))
        except InvalidKeyError as error:
            answers.append(error)
    return answers


def _status(invalid: int) -> int:
    if invalid:
        print(f"invalid: {invalid} could not be evaluated, so whether they are present is unknown", file=sys.stderr)
    return 4 if invalid else 0


def _field(text: str) -> str:
    return _FIELD_ENDS.sub(" ", text)


def _open_list(path: str, key_hash: KeyHash, options: argparse.Namespace) -> SnapshotSet:
    opened, directory = open_path(path)
    if isinstance(opened, Blob):
        raise UnsupportedError(f"this is {BLOB_NAMES[opened.kind]}; URLs are looked up in a snapshot or a directory")
    opened.parameters.require_hash(key_hash)
    if isinstance(opened, Snapshot):
        if options.public_key:
            raise UnsupportedError(ONLY_MANIFESTS)
        return SnapshotSet.of_snapshot(opened, key_hash)
    assert directory is not None
    shards = CatchUp(opened, _Blobs(opened, directory, options)).by_bases()
    return SnapshotSet.of_manifest(opened, shards, key_hash)


def _match(options: argparse.Namespace) -> int:
    key_hash = _hash_key(options)
    allow_from = 1 + len(options.list or [])
    paths = [options.path, *(options.list or []), *(options.allow or [])]
    for path in paths:
        if paths.count(path) > 1:
            raise UnsupportedError(f"{path} must be given once")
    opened = [_open_list(path, key_hash, options) for path in paths]
    if opened[0].parameters.near is not None:
        return _match_texts(opened, options)
    # Sets with the same name are identified by their paths.
    names = paths if len({one.set_name for one in opened}) < len(opened) else None
    lists = UrlLists(opened[:allow_from], opened[allow_from:], names)
    several = len(opened) > 1
    scope = os.fsencode(options.scope)
    invalid = 0
    for urls in _questions(options.questions):
        for answer in lists.ask_each(urls, scope):
            invalid += answer.reason is not None
            url = answer.url.decode("utf-8", "replace") if isinstance(answer.url, bytes) else answer.url
            line = _json_of(url, answer) if options.json else _line_of(url, answer, several)
            sys.stdout.buffer.write(line.encode("utf-8") + b"\n")
        sys.stdout.buffer.flush()
    return _status(invalid)


def _match_texts(opened: list[SnapshotSet], options: argparse.Namespace) -> int:
    texts = opened[0]
    if len(opened) > 1:
        raise UnsupportedError(f"--list and --allow need lists of URLs; {options.path} contains texts")
    assert texts.parameters.near is not None
    scope, bands = os.fsencode(options.scope), texts.parameters.near.bands
    invalid = 0
    for questions in _questions(options.questions):
        for question in questions:
            text = _field(question.decode("utf-8", "replace"))
            row: dict[str, Any] = {"text": text, "answer": "invalid"}
            try:
                equal = texts.resembles(question, scope)
                row = {"text": text, "answer": "present" if equal else "absent", "equalBands": equal, "bands": bands}
                words = [text, row["answer"], *([str(equal)] if equal else [])]
            except InvalidKeyError as error:
                invalid += 1
                row["reason"] = str(error)
                words = [text, "invalid", _field(str(error))]
            line = json.dumps(row, ensure_ascii=False, separators=(",", ":")) if options.json else "\t".join(words)
            sys.stdout.buffer.write(line.encode("utf-8") + b"\n")
        sys.stdout.buffer.flush()
    return _status(invalid)


def _line_of(url: str, answer: UrlAnswer, several: bool) -> str:
    if answer.reason is not None:
        return f"{_field(url)}\tinvalid\t{_field(answer.reason)}"
    # The entries that make a URL present, or absent because of an allow set.
    deciding = answer.matches if answer.present or not answer.matches else answer.allowed_by
    words = [_field(url), "present" if answer.present else "absent"]
    for match in deciding:
        words.append(match.entry)
        if several:
            words.append(match.set_name)
    return "\t".join(words)


def _json_of(url: str, answer: UrlAnswer) -> str:
    if answer.reason is not None:
        row: dict[str, Any] = {"url": url, "answer": "invalid", "reason": answer.reason}
        return json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    row = {
        "url": url,
        "answer": "present" if answer.present else "absent",
        "matches": [{"set": match.set_name, "entry": match.entry} for match in answer.matches],
        "allowedBy": [{"set": match.set_name, "entry": match.entry} for match in answer.allowed_by],
        "expressions": answer.expressions,
        "falsePositiveRate": answer.false_positive_rate,
    }
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


# --- follow -------------------------------------------------------------------------------------


def _token_header() -> dict[str, str]:
    """Returns the header with the token in the environment, if set."""
    # The service may have several tokens, one per line; a client sends the first.
    token = os.environ.get("FIRSTSEEN_HTTP_TOKEN", "").strip().partition("\n")[0].strip()
    return {"Authorization": f"Bearer {token}"} if token else {}


def _follow(options: argparse.Namespace) -> int:
    failures: queue.SimpleQueue[OSError] = queue.SimpleQueue()

    def on_update(update: Update) -> None:
        snapshot = update.snapshot
        if options.json:
            row = {
                "set": snapshot.set_name,
                "sequence": snapshot.sequence,
                "windowEndMillis": snapshot.window_end_millis,
                "keys": len(snapshot),
                "byPacks": update.by_packs,
                "bytes": update.bytes_read,
            }
            line = json.dumps(row, separators=(",", ":"))
        else:
            end = datetime.fromtimestamp(snapshot.window_end_millis / 1000, timezone.utc)
            way = "packs" if update.by_packs else "bases"
            line = (
                f"set {snapshot.set_name}: sequence {snapshot.sequence} is active, {len(snapshot)} keys"
                f" at {end:%Y-%m-%dT%H:%M:%SZ}, {update.bytes_read} bytes by {way}"
            )
        try:
            print(line, flush=True)
        except OSError as error:
            if options.once:
                raise
            # This is the thread of the follower, which continues after any error.
            failures.put(error)

    def on_trouble(sentence: str) -> None:
        print(sentence, file=sys.stderr, flush=True)

    source: Any = options.source
    if options.bootstrap_servers is not None:
        if options.set is None:
            raise UnsupportedError("a set on a topic must be named by --set")
        source = KafkaSource.connect(options.bootstrap_servers, options.source, options.set)
    elif options.source.startswith(("http://", "https://")):
        source = HttpSource(options.source, options.set, headers=_token_header())
    follower = follow(
        source,
        set_name=options.set,
        key_hash=_hash_key(options),
        cache=options.cache_dir,
        trusted_keys=_trusted(options),
        blobs=options.blobs,
        poll_seconds=options.poll,
        on_update=on_update,
        on_trouble=on_trouble,
    )
    if options.once:
        return 0 if follower.poll() is not None or follower.trouble is None else 2
    with follower:
        while True:
            try:
                # With a timeout, because an unlimited wait cannot be interrupted on Windows.
                raise failures.get(timeout=1)
            except queue.Empty:
                pass


# --- The command --------------------------------------------------------------------------------


def _pause(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= 86400:
        raise argparse.ArgumentTypeError(f"must be above 0, at most 86400 seconds, got '{text}'")
    return seconds


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="firstseen", description="Reads Firstseen snapshots of format version 1."
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="info|verify|query|match|follow|apply")
    for verb, run, about in (
        ("info", _info, "print the header of a manifest, snapshot or blob"),
        ("verify", _verify, "verify a set, a snapshot or a blob"),
        ("query", _query, "look up keys in a set"),
        ("match", _match, "match URLs against lists, or texts against a set of near-duplicates"),
        ("follow", _follow, "print a line for each newer snapshot of the set"),
        ("apply", _apply, "write the snapshot of each shard of a set"),
    ):
        command = verbs.add_parser(verb, help=about, description=about)
        command.set_defaults(run=run)
        if verb == "follow":
            command.add_argument(
                "source", metavar="SOURCE", help="directory, URL of the HTTP service or of a directory on a web server, or topic"
            )
            command.add_argument("--bootstrap-servers", metavar="HOST:PORT", help="brokers; SOURCE is a topic")
            command.add_argument("--set", metavar="NAME", help="set name; required if the source has several sets")
            command.add_argument("--cache-dir", metavar="DIR", help="directory that keeps the last valid set for the next start")
            command.add_argument("--poll", metavar="SECONDS", type=_pause, default=1.0, help="poll interval; above 0, at most 86400 (default: 1)")
            command.add_argument("--once", action="store_true", help="poll once, then exit")
        else:
            command.add_argument("path", metavar="LIST" if verb == "match" else "PATH")
        if verb == "apply":
            command.add_argument("output", metavar="OUTPUT")
            command.add_argument("--from", dest="held", metavar="PATH", help="an earlier manifest of the same set, or its directory")
        if verb in ("query", "match"):
            what = "KEY" if verb == "query" else "URL"
            command.add_argument("questions", metavar=what, nargs="*", help="queries, directly after PATH; - or none: standard input, one per line")
            command.add_argument("--scope", default="", help="scope of the keys or entries")
        if verb in ("match", "follow"):
            command.add_argument("--json", action="store_true", help="print JSON objects")
        if verb == "match":
            command.add_argument("--list", metavar="F", action="append", help="additional list; may be repeated; lists with the same name are shown by path")
            command.add_argument(
                "--allow", metavar="F", action="append", help="allow set, which overrides the lists; may be repeated"
            )
        if verb in ("query", "match", "follow"):
            command.add_argument(
                "--hash-key-file", metavar="FILE|public", help="file with 32 hexadecimal digits, or public (default: FIRSTSEEN_HASH_KEY, otherwise public)"
            )
        if verb != "info":
            command.add_argument(
                "--public-key", metavar="FILE", action="append", help="public key in PEM; may be repeated; one of the keys must have signed the manifest"
            )
            command.add_argument("--blobs", metavar="URI", help="directory of blobs that are not stored with the manifest")
    return parser


def _warn(message: Any, *_: Any, **__: Any) -> None:
    print(f"warning: {message}", file=sys.stderr)


def _drop_output() -> None:
    """Prevents Python from writing pending output at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    path = getattr(options, "path", None) or getattr(options, "source", None)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = _warn
        try:
            status = int(options.run(options))
            sys.stdout.flush()
            return status
        except UnreachableError as error:
            print(error, file=sys.stderr)
        except FirstseenError as refusal:
            print(f"{path}: {refusal}", file=sys.stderr)
        except BrokenPipeError:
            # The reader has closed the pipe.
            _drop_output()
            return 0
        except OSError as error:
            if error.filename is None:
                _drop_output()
                print(f"cannot write: {error.strerror}", file=sys.stderr)
            else:
                print(f"cannot open {error.filename}: {error.strerror}", file=sys.stderr)
        except ValueError as error:
            # An invalid path, for example with a NUL character.
            print(f"{path!r}: {error}", file=sys.stderr)
        except KeyboardInterrupt:
            return 130
    return 2
