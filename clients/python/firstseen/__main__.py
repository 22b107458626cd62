"""python3 -m firstseen"""

import sys

from .cli import main


def run() -> None:
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
