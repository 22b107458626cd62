"""The cases that readers of all languages share, with NumPy and without."""

import os
import subprocess
import sys
import unittest

from . import REPOSITORY


class Cases(unittest.TestCase):
    def check(self, numpy):
        environment = {**os.environ, "PYTHONPATH": str(REPOSITORY / "clients/python"), "FIRSTSEEN_NUMPY": numpy}
        result = subprocess.run(
            [sys.executable, REPOSITORY / "conformance/check.py", "--strict", "--", sys.executable, "-B", "-m", "firstseen.conformance"],
            capture_output=True,
            text=True,
            env=environment,
        )
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertRegex(result.stdout, r"(?m)^all +[0-9]{4} +0 +0$")

    def test_with_numpy_if_it_is_there(self):
        self.check("on")

    def test_without_numpy(self):
        self.check("off")


if __name__ == "__main__":
    unittest.main()
