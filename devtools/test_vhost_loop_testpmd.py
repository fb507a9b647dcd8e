#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Tests of what dpdk-vhost-loop.py reads from testpmd, processes and builds."""

import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

from vhost_loop_case import ROOT
from vhost_loop import testpmd

# What a dpdk-testpmd of DPDK 22.11 has printed in a loop, and where it knows no copy modes.
PORT_STATS = b"""show port stats all\r\r
\r
  ######################## NIC statistics for port 0  ########################\r
  RX-packets: 440576     RX-missed: 0          RX-bytes:  28196864\r
  RX-errors: 0\r
  RX-nombuf:  0         \r
  TX-packets: 440160     TX-errors: 0          TX-bytes:  28170240\r
\r
  Throughput (since last show)\r
  Rx-pps:            0          Rx-bps:            0\r
  Tx-pps:            0          Tx-bps:            0\r
  ############################################################################\r
testpmd> """
FWD_STATS = b"""show fwd stats all\r\r
\r
  ---------------------- Forward statistics for port 0  ----------------------\r
  RX-packets: 440576         RX-dropped: 0             RX-total: 440576\r
  TX-packets: 440160         TX-dropped: 416           TX-total: 440576\r
  ----------------------------------------------------------------------------\r
\r
  +++++++++++++++ Accumulated forward statistics for all ports+++++++++++++++\r
  RX-packets: 440576         RX-dropped: 0             RX-total: 440576\r
  TX-packets: 440160         TX-dropped: 416           TX-total: 440576\r
  ++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++\r
testpmd> """
NO_MODES = b"show port 0 vhost copy\r\r\nBad arguments\r\ntestpmd> "


class WindowTest(unittest.TestCase):
    """Which windows count, and what that is known from."""

    def test_rule_for_windows(self):
        """Steal beyond one tick and 2 %, loss beyond one in a thousand."""
        ticks = os.sysconf("SC_CLK_TCK")
        why = testpmd.why_dropped
        self.assertEqual(why("loop", ticks * 0.1, 0, 1, 0, 1000), "steal")
        self.assertIsNone(why("loop", 1, 0, 0.2, 0, 1000))
        self.assertEqual(why("loop", 0, 0, 1, 2, 1000), "loss")
        self.assertIsNone(why("enqueue", 0, 0, 1, 500, 1000))
        self.assertEqual(why("enqueue", 0, 0.21, 1, 0, 1000), "wait")
        self.assertIsNone(why("loop", 0, 0.19, 1, 0, 1000))

    def test_waiting_is_seen(self):
        """Of two threads on one CPU, the one that is called a worker."""
        spin = ("import ctypes, threading, time, os\n"
                "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
                "ctypes.CDLL(None).prctl(15, NAME, 0, 0, 0)\n"
                "while True: pass\n")
        with contextlib.ExitStack() as stack:
            sides = []
            for name in (b"lcore-worker-1", b"other"):
                side = testpmd.Testpmd(
                    "side", [sys.executable, "-c", spin.replace("NAME", repr(name))], "/tmp")
                stack.callback(side.kill)
                sides.append(side)
            end = time.monotonic() + 20
            while sides[0].waited() < 0.1 and time.monotonic() < end:
                time.sleep(0.1)
            self.assertGreaterEqual(sides[0].waited(), 0.1)
            self.assertEqual(sides[1].waited(), 0)


class RecordedTest(unittest.TestCase):
    """What is read from the output of a real testpmd."""

    class Side:
        """A testpmd that has printed something."""

        role, asked, unseen = "side", "", 0

        def __init__(self, printed):
            self.printed = printed

        def send(self, command):
            """Take a command."""

    def pair(self, printed):
        """Return a pair whose sides have printed this."""
        pair = testpmd.Pair(None, None, "split", False, "/nonexistent")
        pair.sides = [self.Side(printed), self.Side(printed)]
        pair.vhost = pair.sides[1]
        return pair

    def test_received(self):
        """Packets and bytes."""
        pair = self.pair(PORT_STATS)
        self.assertEqual(pair.count(pair.vhost)[:2], (440576, 28196864))

    def test_lost(self):
        """Each packet once, though testpmd has them for the port and for all ports."""
        self.assertEqual(self.pair(FWD_STATS).lost(), 2 * 416)

    def test_no_modes(self):
        """DPDK without the patchset."""
        self.assertIsNone(self.pair(NO_MODES).copy_mode())


class BuildTest(unittest.TestCase):
    """What is read from build directories."""

    def options(self, values):
        """Return the options of a build directory with these values."""
        with tempfile.TemporaryDirectory() as directory:
            info = pathlib.Path(directory) / "meson-info"
            info.mkdir()
            (info / "intro-buildoptions.json").write_text(json.dumps(
                [{"name": name, "value": value} for name, value in values.items()]))
            return testpmd.Build("name", None, pathlib.Path(directory)).options

    def test_our_option_decides_for_the_subproject(self):
        """DPDK's own one follows it, whatever value Meson shows for it."""
        for order in (1, -1):
            values = [("use_cc_memcpy", True), ("dpdk:use_cc_memcpy", False)][::order]
            self.assertIs(self.options(dict(values))["use_cc_memcpy"], True)

    def test_other_options_of_the_subproject(self):
        """These are DPDK's alone, or were set for DPDK alone."""
        options = self.options({"default_library": "static", "dpdk:default_library": "shared",
                                "dpdk:cpu_instruction_set": "haswell"})
        self.assertEqual(options["default_library"], "shared")
        self.assertEqual(options["cpu_instruction_set"], "haswell")

    def test_doubts(self):
        """Builds that are no benchmark, and builds that are none of each other."""
        def build(name, **options):
            made = testpmd.Build(name, None, pathlib.Path("/nonexistent"))
            made.options = options
            return made
        fast = build("fast", optimization="3", default_library="static", b_sanitize="none")
        self.assertEqual(fast.doubts(), [])
        for options, text in (({"optimization": "0", "buildtype": "debug"}, "no optimisation"),
                              ({"b_sanitize": "address"}, "sanitizers"),
                              ({"b_pgo": "generate"}, "counts for a profile")):
            self.assertEqual(build("slow", **options).doubts(),
                             [f"slow is built with {text}: its rates mean nothing"])
        self.assertEqual(build("own", optimization="0", buildtype="plain").doubts(), [])
        self.assertEqual(testpmd.differences([fast, build("less", optimization="2")]),
                         ["the builds differ in optimization: 2, 3"])
        self.assertEqual(testpmd.differences([fast, fast, build("unknown")]), [])

    def test_options_that_are_none(self):
        """What a setup that was interrupted has left."""
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "options.json"
            for text in ("", "{", "[1]", '[{"name": "a"}]', "3"):
                path.write_text(text)
                self.assertEqual(testpmd.meson_options(path), {}, text)

    def test_dies_only_with_its_parent(self):
        """A parent that is process 1 of a container is no reason to die, one that has ended is."""
        ask = (f"import sys; sys.path.insert(0, {str(ROOT / 'usertools')!r});"
               "from vhost_loop.testpmd import die_with; die_with(int(sys.argv[1]))()")
        for parent, status in ((os.getpid(), 0), (1, 1)):
            done = subprocess.run([sys.executable, "-B", "-c", ask, str(parent)], check=False)
            self.assertEqual(done.returncode, status)


if __name__ == "__main__":
    unittest.main()
