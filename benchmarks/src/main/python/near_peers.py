"""Looks up texts in datasketch's MinHashLSH and MinHashLSHBloom (LSHBloom, arXiv 2411.04257).

NearComparison runs this script. It needs the packages datasketch and pybloomfilter3.

    near_peers.py UNIT SHINGLE BANDS ROWS FPR LIVE QUERIES

LIVE and QUERIES have one canonical text per line. All live texts are looked up and inserted.
Prints one JSON object per index: seconds of CPU time, bytes, and one digit per query, 1 if it was found.
"""

import json
import os
import sys
import time
import warnings

from datasketch import MinHash, MinHashLSH
from datasketch.lsh_bloom import MinHashLSHBloom


def shingles(text, unit, k):
    units = text.split(" ") if unit == "words" else text
    join = " ".join if unit == "words" else "".join
    return {join(units[i : i + k]).encode() for i in range(max(1, len(units) - k + 1))}


def read(file):
    with open(file, encoding="utf-8") as lines:
        return [line.rstrip("\n") for line in lines]


def resident():
    with open("/proc/self/statm") as fields:
        return int(fields.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def main(unit, k, bands, rows, fpr, live, queries):
    components = bands * rows

    def minhash(text):
        signature = MinHash(num_perm=components)
        signature.update_batch(shingles(text, unit, k))
        return signature

    def report(index, add, query, measure):
        before = resident()
        start = time.process_time()
        for i, signature in enumerate(signatures):
            query(signature)
            add(i, signature)
        seconds = time.process_time() - start + signing
        found = "".join("1" if query(each) else "0" for each in asked)
        print(json.dumps({"index": index, "seconds": seconds, "bytes": measure(before), "found": found}))
        sys.stdout.flush()

    texts = read(live)
    asked = [minhash(text) for text in read(queries)]
    start = time.process_time()
    signatures = [minhash(text) for text in texts]
    signing = time.process_time() - start
    lsh = MinHashLSH(num_perm=components, params=(bands, rows))
    report("datasketch MinHashLSH", lsh.insert, lsh.query, lambda before: resident() - before)
    del lsh
    warnings.simplefilter("ignore", RuntimeWarning)  # The index is not saved.
    bloom = MinHashLSHBloom(
        num_perm=components,
        params=(bands, rows),
        n=len(texts),
        fp=1 - (1 - fpr) ** (1 / bands),
    )
    report(
        "datasketch MinHashLSHBloom",
        lambda i, signature: bloom.insert(signature),
        bloom.query,
        lambda before: sum(table.bloom_filter.num_bits for table in bloom.hashtables) // 8,
    )


if __name__ == "__main__":
    unit, k, bands, rows, fpr, live, queries = sys.argv[1:]
    main(unit, int(k), int(bands), int(rows), float(fpr), live, queries)
