#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Tests of devtools/iotlb-plot on numbers that nobody measured."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent / "iotlb-plot"
MACHINE = {"record": "machine", "cpu": "a CPU's name", "family": 26, "model": 2,
           "compiler": "a compiler", "isa": "avx_2"}
IMPLS = (("last", "list"), ("last", "list, in order"), ("random", "list"), ("last", "map"),
         ("random", "map"))
ROWS = [{"record": "row", "operation": "find", "pattern": pattern, "impl": impl,
         "entries": entries, "min": 1, "median": entries * 10 + number}
        for number, (pattern, impl) in enumerate(IMPLS) for entries in (1, 64, 2048)]


class PlotTest(unittest.TestCase):
    """Runs the tool."""

    def setUp(self):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.svg = pathlib.Path(work.name) / "x.svg"
        self.json = pathlib.Path(work.name) / "x.json"

    def plot(self, records, **more):
        """Run the tool on some records."""
        self.json.write_text("".join(json.dumps(record) + "\n" for record in records))
        return subprocess.run([sys.executable, TOOL, self.json, self.svg], text=True,
                              capture_output=True, check=False, **more)

    def fails(self, says, result):
        """It must say in one line why it fails, and draw nothing."""
        self.assertEqual(result.returncode, 1, result)
        self.assertRegex(result.stderr, f"^iotlb-plot: error: .*{says}")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertFalse(self.svg.exists())

    def test_plot(self):
        if shutil.which("gnuplot") is None:
            self.skipTest("gnuplot is not installed")
        other = dict(ROWS[0], operation="insert")
        result = self.plot([MACHINE, other, *ROWS])
        self.assertEqual(result.returncode, 0, result.stderr)
        svg = self.svg.read_text()
        for text in ("CPU's name, family 26", "avx_2", "list in order, last entry",
                     "map, random entries"):
            self.assertIn(text, svg.replace("&#39;", "'"))

    def test_points(self):
        gnuplot = self.svg.with_name("gnuplot")
        gnuplot.write_text('#!/bin/sh\nd=${0%/*}\necho head > "$d/x.svg"\n'
                           'echo body >> "$d/x.svg"\nexec cat > "$d/commands"\n')
        gnuplot.chmod(0o755)
        result = self.plot([MACHINE, *reversed(ROWS)],
                           env=dict(os.environ, PATH=f"{gnuplot.parent}:{os.environ['PATH']}"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(self.svg.read_text(), "^head\n<!-- SPDX-.*\n.* -->\nbody\n$")
        commands = self.svg.with_name("commands").read_text()
        for number in range(len(IMPLS)):
            self.assertIn(f"$curve{number} << END\n1 1{number}\n64 64{number}\n"
                          f"2048 2048{number}\nEND\n", commands)

    def test_bad_input(self):
        self.fails("x.json:2: not a record", self.plot([MACHINE, {"what": 1}]))
        self.fails("x.json:1: not a record", self.plot([7]))
        self.fails("x.json:1: not a record", self.plot([{"record": "machine"}, *ROWS]))
        self.fails("has no map, random entries: not a whole", self.plot([MACHINE, *ROWS[:-3]]))
        self.fails("has no machine", self.plot(ROWS))
        self.fails("gnuplot is not installed", self.plot([MACHINE, *ROWS], env={"PATH": ""}))


if __name__ == "__main__":
    unittest.main(buffer=True)
