"""python3 -m firstseen.conformance: answers requests, one JSON object per line, for conformance/check.py."""

from __future__ import annotations

import base64
import binascii
import json
import sys
from typing import Any, Callable, Optional

from . import open_manifest, open_set
from .canonical import Canonicaliser, canonicaliser, url_expressions
from .catchup import CatchUp, Held
from .errors import FirstseenError, InvalidKeyError, UnsupportedError
from .keyhash import HASH_NAMES, XXH3_64, KeyHash, joined
from .manifest import Manifest
from .parameters import SetParameters
from .sets import SnapshotSet, UrlLists
from .shards import values_of
from .signature import TrustedKey, require_signed
from .snapshot import SNAPSHOT_MAGIC, Snapshot
from .sources import read_file
from ._numeric import np

Request = dict[str, Any]


def _rule(request: Request) -> Canonicaliser:
    """Names of the protocol without a version mean the first released version of a rule."""
    name = request.get("canonicaliser", "url-expression")
    return canonicaliser({"url": "url-2", "url-expression": "url-expression-1"}.get(name, name))


def _canonical(request: Request) -> Request:
    rule = _rule(request)
    if request.get("strip"):
        rule = rule.stripping(request["strip"])
    key = bytes.fromhex(request["keyHex"]) if "keyHex" in request else request["key"]
    return {"form": rule.canonical(key).hex()}


def _expressions(request: Request) -> Request:
    return {"expressions": url_expressions(request["url"], _rule(request).version)}


def _key_hash(request: Request) -> KeyHash:
    algorithm, key = request.get("algorithm", "siphash-2-4"), request.get("hashKey")
    if algorithm not in HASH_NAMES.values():
        raise UnsupportedError(f"the hash must be one of {', '.join(HASH_NAMES.values())}, got {algorithm!r}")
    if algorithm == HASH_NAMES[XXH3_64]:
        return KeyHash.xxh3(int(key or 0))
    return KeyHash.public() if key is None else KeyHash.parse(key)


def _hash(request: Request) -> Request:
    form = joined(bytes.fromhex(request.get("scopeHex", "")), bytes.fromhex(request["formHex"]))
    return {"hash": f"{_key_hash(request).hash(form):016x}"}


def _value(request: Request) -> Request:
    buckets, width = int(request["buckets"]), int(request["width"])
    parameters = SetParameters(1, 0, 0, 1, int(request["shards"]), 0.1)
    shard, suffix = parameters.shard_and_suffix(int(request["hash"], 16))
    value = suffix * buckets * width >> 64
    if np is not None:
        # The cases check both implementations.
        at_once = int(values_of(np.array([suffix], np.uint64), buckets, width)[0])
        if at_once != value:
            raise AssertionError(f"the value is {value} and, with NumPy, {at_once}")
    return {"shard": shard, "value": str(value)}


def _snapshot(request: Request) -> Request:
    snapshot = Snapshot(read_file(request["file"]))
    header = snapshot.header
    answer: Request = {
        "set": snapshot.set_name,
        "shard": snapshot.shard,
        "count": str(header.value_count),
        "hashCount": str(header.hash_count),
        "setDigest": header.set_digest.hex(),
    }
    if request.get("verify"):
        answer["values"] = [str(value) for value in snapshot.decode().values[:100]]
    return answer


def _opened(request: Request) -> SnapshotSet:
    return open_set(request["file"] if "file" in request else request["directory"], _key_hash(request))


def _query(request: Request) -> Request:
    scope, keys = request.get("scope") or "", request["keys"]
    contains = None
    if "file" in request:
        data = read_file(request["file"])
        if data.startswith(SNAPSHOT_MAGIC):
            snapshot = Snapshot(data)
            if snapshot.parameters.shard_count > 1:
                contains = _in_shard(snapshot, scope, _key_hash(request))
    if contains is None:
        whole = _opened(request)
        contains = lambda key: whole.contains(key, scope)
    return _each("present", contains, keys, False)


def _each(field: str, ask: Callable[[str], Any], keys: list[str], of_invalid: Any) -> Request:
    answers: list[Any] = []
    invalid = []
    for index, key in enumerate(keys):
        try:
            answers.append(ask(key))
        except InvalidKeyError:
            answers.append(of_invalid)
            invalid.append(index)
    return {field: answers, "invalid": invalid}


def _in_shard(snapshot: Snapshot, scope: str, key_hash: KeyHash) -> Callable[[str], bool]:
    snapshot.parameters.require_hash(key_hash)

    def contains(key: str) -> bool:
        hash_of_key = snapshot.parameters.hash(key, scope.encode(), key_hash)
        shard, _ = snapshot.parameters.shard_and_suffix(hash_of_key)
        return shard == snapshot.shard and snapshot.contains_hash(hash_of_key)

    return contains


def _match(request: Request) -> Request:
    opened = _opened(request)
    UrlLists([opened])
    return _each("entries", lambda url: opened.match(url, request.get("scope") or ""), request["urls"], None)


def _resembles(request: Request) -> Request:
    opened, scope = _opened(request), request.get("scope") or ""
    if opened.parameters.near is None:
        opened.resembles("")
    return _each("equalBands", lambda text: opened.resembles(text, scope), request["texts"], 0)


def _public_key(text: str) -> TrustedKey:
    try:
        return TrustedKey(bytes.fromhex(text))
    except ValueError:
        pass
    try:
        return TrustedKey(base64.b64decode(text, validate=True))
    except binascii.Error:
        raise UnsupportedError("a public key must be in Base64 or hexadecimal digits") from None


def _decimal(number: Optional[int]) -> Optional[str]:
    return None if number is None else str(number)


def _manifest(request: Request) -> Request:
    manifest = Manifest(read_file(request["file"]))
    if request.get("publicKeys"):
        require_signed(manifest, [_public_key(key) for key in request["publicKeys"]])
    parameters = manifest.parameters
    answer = {
        "set": manifest.set_name,
        "sequence": str(manifest.sequence),
        "windowStartMillis": str(manifest.window_start_millis),
        "windowEndMillis": str(manifest.window_end_millis),
        "publishedMillis": str(manifest.published_millis),
        "expiresMillis": _decimal(manifest.expires_millis),
        "algorithm": parameters.hash_name,
        "keyCheck": f"{parameters.key_check:016x}",
        "canonicaliser": parameters.canonicaliser_name,
        "canonicaliserVersion": parameters.canonicaliser_version,
        "shards": parameters.shard_count,
        "falsePositiveRate": parameters.false_positive_rate,
        "count": str(manifest.count),
        "root": manifest.root.hex(),
        "pack": None if manifest.pack is None else manifest.pack.name,
        "packBytes": str(manifest.pack_bytes),
        "blobs": manifest.blobs,
    }
    if parameters.stripped:
        answer["strip"] = parameters.stripped
    if parameters.near:
        answer["near"] = str(parameters.near)
    return answer


def _follow(request: Request) -> Request:
    manifest, directory = open_manifest(request["to"])
    held = None
    if request.get("from") is not None:
        earlier, from_directory = open_manifest(request["from"])
        # From a different set, only the bases lead here.
        held = Held(earlier, CatchUp(earlier, from_directory.blob).by_bases())
    caught = CatchUp(manifest, directory.blob).run(held)
    count = sum(shard.hash_count for shard in caught.shards if shard)
    return {"root": manifest.root.hex(), "count": str(count), "bytes": caught.bytes_read}


_OPERATIONS: dict[str, Callable[[Request], Request]] = {
    "canonical": _canonical,
    "expressions": _expressions,
    "hash": _hash,
    "value": _value,
    "snapshot": _snapshot,
    "query": _query,
    "match": _match,
    "resembles": _resembles,
    "manifest": _manifest,
    "follow": _follow,
}


def answer(request: Request) -> Request:
    """Returns the answer to a request."""
    operation = _OPERATIONS.get(request["op"])
    if operation is None:
        return {"unsupported": True}
    try:
        return operation(request)
    except FirstseenError as refusal:
        return {"refused": str(refusal)}


def main() -> None:
    for line in sys.stdin.buffer:
        reply = json.dumps(answer(json.loads(line)))
        sys.stdout.write(reply + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
