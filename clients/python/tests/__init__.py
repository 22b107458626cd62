"""Run with: python3 -m unittest (in clients/python)."""

from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]
GOLDEN = REPOSITORY / "filters/src/test/resources/io/firstseen/filters/snapshot/golden-v1"
CHARACTERS = REPOSITORY / "filters/src/test/resources/io/firstseen/filters/key/unicode-13-assigned.txt"


def vectors(name: str) -> Path:
    """A file of vectors, which readers in all languages share."""
    return REPOSITORY / "conformance/vectors" / name
