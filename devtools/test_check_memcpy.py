#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors

"""Tests of what devtools/check-memcpy takes as arguments; what it checks is its own test."""

import pathlib
import subprocess
import sys
import unittest

TOOL = pathlib.Path(__file__).resolve().parent / "check-memcpy"


class ArgumentsTest(unittest.TestCase):
    """Wrong targets are refused in one line, before anything is compiled."""

    def assert_refused(self, *words):
        """Exit status 2 and a line that says why."""
        done = subprocess.run([sys.executable, str(TOOL), *words], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        self.assertIn("error: ", done.stderr.splitlines()[-1])

    def test_refuses_wrong_targets(self):
        """None, unknown ones, and words in places where they mean nothing."""
        for words in ((), ("avx3",), ("avx2", "all"), ("all", "avx2"), ("all", "warnings"),
                      ("avx2", "warnings"), ("warnings", "all", "avx2"), ("warnings", "warnings")):
            with self.subTest(words=words):
                self.assert_refused(*words)


if __name__ == "__main__":
    unittest.main()
