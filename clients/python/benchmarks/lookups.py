#!/usr/bin/env python3
"""How many look-ups a second: python3 benchmarks/lookups.py [--keys N] [--rounds R]

Half of the keys that are asked are in the set. Prints the best of some rounds, in CPU time, which other
programs on the machine disturb less. FIRSTSEEN_NUMPY=off measures without NumPy.
"""

import argparse
import platform
import random
import sys
import time
from array import array
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from firstseen import NONE, URL, URL_EXPRESSION, KeyHash, SnapshotSet, UrlLists, url_expressions  # noqa: E402
from firstseen._numeric import np  # noqa: E402
from firstseen.parameters import SetParameters  # noqa: E402
from firstseen.shards import Shard  # noqa: E402
from firstseen.snapshot import Snapshot, snapshot_bytes  # noqa: E402

RATE = 0.001


def set_of(rule, keys, key_hash):
    """A set of one shard, with K and w as our writer chooses them."""
    count = len(keys)
    buckets = -(-count // 36)
    width = -(-int(count / RATE) // buckets) + 1
    hashes = key_hash.hash_each([rule.canonical(key) for key in keys])
    values = sorted({int(one) * buckets * width >> 64 for one in hashes})
    parameters = SetParameters(key_hash.algorithm, key_hash.key_check, rule.code, rule.version, 1, RATE)
    shard = Shard(0, buckets, width, array("Q", values), count)
    return SnapshotSet("benchmark", 1, 0, parameters, [shard], key_hash)


def best(rounds, count, run):
    """The highest number a second."""
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        seconds.append(time.process_time() - start)
    return f"{count / min(seconds):14,.0f} a second"


def main():
    parser = argparse.ArgumentParser(description="Measures look-ups.")
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    count, rounds = options.keys, options.rounds
    version = "without NumPy" if np is None else f"NumPy {np.__version__}"
    print(f"Python {platform.python_version()}, {version}, {count:,} keys in the set and {count:,} asked")

    key_hash = KeyHash.public()
    keys = [f"http://host{i}.example/path/{i * 7919 % 100_003}" for i in range(count)]
    asked = keys[::2] + [f"http://other{i}.example/path/{i}" for i in range(count - len(keys[::2]))]
    random.Random(1).shuffle(asked)
    exact = set_of(NONE, keys, key_hash)
    urls = set_of(URL, keys, key_hash)
    forms = [key.encode() for key in asked]
    hashes = key_hash.hash_each(forms)
    some = asked[: count // 20]
    print("from hashes         ", best(rounds, count, lambda: exact.contains_hashes(hashes)))
    print("from keys, none     ", best(rounds, count, lambda: exact.contains_each(forms)))
    print("from keys, url      ", best(rounds, count, lambda: urls.contains_each(asked)))
    spelled = [key.replace("http://", "HTTP://") + "?b=1&a=2" for key in some]
    print("from other spellings", best(rounds, len(some), lambda: urls.contains_each(spelled)))
    print("one by one, none    ", best(rounds, len(some), lambda: [exact.contains(key) for key in some]))
    lists = UrlLists([set_of(URL_EXPRESSION, keys, key_hash)])
    expressions = sum(len(url_expressions(url)) for url in some) / len(some)
    rate = best(rounds, len(some), lambda: lists.ask_each(some))
    print("URLs asked of a list", rate, f"with {expressions:.1f} expressions each")

    data = snapshot_bytes("benchmark", exact.parameters, 1, 0, 0, exact.shards[0])
    print("a snapshot read     ", best(rounds, count, lambda: Snapshot(data).decode()), f"keys of {len(data):,} bytes")


if __name__ == "__main__":
    main()
