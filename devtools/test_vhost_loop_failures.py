#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Tests of dpdk-vhost-loop.py where testpmd or the machine fails, with a fake testpmd."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import sys
import time
import unittest

from vhost_loop_case import FAKE, LoopCase
from vhost_loop import LoopError, TimeOver, testpmd


class FailureTest(LoopCase):
    """What goes wrong is told, and leaves nothing behind."""

    def test_time_over(self):
        """A loop ends when it has to, whatever it waits for, and leaves nothing behind."""
        for late in (0, 0.5):
            with self.assertRaises(TimeOver):
                with self.pair("vhost:never-connect", time.monotonic() + late) as pair:
                    pair.measure("loop", 64, 9)
            self.assertEqual(self.leftovers(), [])

    def test_no_figures(self):
        """All windows were dropped: it is the last line, and an exit status of its own."""
        args = "--sizes=64", "--directions=loop", "--rounds=2"
        for builds, count in (([self.fake("a", "lossy")], 2),
                              ([self.fake("a", "lossy"), self.fake("b")], 6)):
            plot = [f"--plot={self.directory}/plot"] if shutil.which("gnuplot") else []
            status, output, errors = self.run_tool(*builds, *args, *plot)
            self.assertEqual((status, errors.count("dpdk-vhost-loop:")), (77, 0), errors)
            self.assertRegex(output.splitlines()[-1],
                             f"^no figures: all {count} windows were dropped, for the reasons")
        status, output, errors = self.run_tool(self.fake("a"), self.fake("b", "lossy"), *args)
        self.assertEqual(status, 0, errors)
        self.assertNotIn("no figures", output)

    def test_no_figures_to_compare(self):
        """Another status than that of a loss."""
        old = f"{self.directory}/old.json"
        args = ["--sizes=64", "--rounds=8", "--window=0.1", "--directions=loop", self.fake("b")]
        self.assertEqual(self.run_tool(self.fake("a"), *args, f"--json={old}")[0], 0)
        self.assertEqual(self.run_tool(self.fake("a", "lossy"), *args, f"--compare={old}")[0], 77)

    def test_ends_by_itself(self):
        """A program that counts for a profile writes the counts when it quits."""
        for options, count in (({}, 0), ({"b_pgo": "generate"}, 2)):
            with self.pair("ok", **options):
                pass
            self.assertEqual(len(list(self.directory.glob("sock*.quit"))), count)
        self.assertEqual(self.leftovers(), [])

    def failure(self, behaviour, *texts):
        """Expect that a pair with a behaviour fails, and what is said."""
        before = testpmd.COMMAND_TIMEOUT_S, testpmd.START_TIMEOUT_S
        testpmd.COMMAND_TIMEOUT_S = testpmd.START_TIMEOUT_S = 1
        try:
            with self.assertRaises(LoopError) as caught:
                with self.pair(behaviour) as pair:
                    pair.measure("loop", 64, 0.05)
        finally:
            testpmd.COMMAND_TIMEOUT_S, testpmd.START_TIMEOUT_S = before
        for text in texts:
            self.assertIn(text, str(caught.exception))
        self.assertEqual(self.leftovers(), [])
        self.assertEqual(list(self.directory.glob("sock?")), [])

    def test_dies_at_start(self):
        """Whichever side it is."""
        self.failure("virtio:die-at-start", "virtio-user ended with exit status 5",
                     "virtio-user| EAL: Cannot init memory")
        self.failure("vhost:die-at-start", "vhost ended with exit status 5")

    def test_dies_in_run(self):
        """Its last words are shown."""
        self.failure("vhost:die-in-run", "vhost ended with exit status 7", "out of luck")

    def test_hangs(self):
        """No answer, and which command it was."""
        self.failure("virtio:hang", "virtio-user gave no answer to 'show fwd stats all'")

    def test_garbage(self):
        """An answer that has no numbers is none."""
        self.failure("vhost:garbage", "vhost gave no answer to 'show port stats all'", "many")

    def test_never_connects(self):
        """Packets would never flow."""
        self.failure("vhost:never-connect", "vhost gave no answer to 'start'")

    def test_wrong_sizes(self):
        """Bytes that do not fit the packets are no result."""
        self.failure("lose-bytes", "packets of 64 bytes came back, but")

    def test_no_packets_without_cpu(self):
        """Where the machine gave no time, it is to blame, and the run goes on; else the build."""
        for waited, why in ((10, "wait"), (0, None)):
            with self.pair("vhost:idle") as pair, contextlib.ExitStack() as stack:
                clock = iter([[0, 0], [0, waited]])
                pair.waited = lambda clock=clock: next(clock)
                if not why:
                    stack.enter_context(self.assertRaisesRegex(LoopError, "0 packets of 64 bytes"))
                self.assertEqual(pair.measure("latency", 64, 0.05)[:2], (None, why))

    def wait_for_children(self, process):
        """Wait until the fakes run; return one of their process numbers."""
        end = time.monotonic() + 20
        while time.monotonic() < end and process.poll() is None:
            found = []
            for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    if str(FAKE).encode() in path.read_bytes() and \
                            f"vhost-loop-{process.pid}-".encode() in path.read_bytes():
                        found.append(int(path.parent.name))
                except OSError:
                    pass
            if len(found) == 2:
                return found[0]
            time.sleep(0.02)
        self.fail("the tool has not started its pair")

    def ended_by(self, number, whom="tool"):
        """Send a signal in mid run; return exit status and errors."""
        self.fake("a")
        process = self.start(f"--build=a={self.directory}/a", "--rounds=900", "--sizes=64")
        child = self.wait_for_children(process)
        os.kill(process.pid if whom == "tool" else child, number)
        _, errors = process.communicate(timeout=60)
        self.assertEqual(self.leftovers(), [])
        return process.returncode, errors

    def test_interrupt(self):
        """Ctrl-C leaves nothing behind."""
        status, errors = self.ended_by(signal.SIGINT)
        self.assertEqual(status, 130)
        self.assertIn("stopped by SIGINT", errors)

    def test_tool_is_killed(self):
        """Nor does kill -9 of the tool."""
        self.assertEqual(self.ended_by(signal.SIGKILL)[0], -signal.SIGKILL)

    def test_janitor_is_killed(self):
        """The directory goes all the same, when the tool comes to its end."""
        with testpmd.run_directory() as run_dir:
            for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                with contextlib.suppress(OSError):
                    words = path.read_bytes().split(b"\0")
                    if words[0] == b"sh" and run_dir.encode() in words:
                        os.kill(int(path.parent.name), signal.SIGKILL)
        self.assertFalse(pathlib.Path(run_dir).exists())

    def test_child_is_killed(self):
        """Nor that of a child, which is named."""
        status, errors = self.ended_by(signal.SIGKILL, "child")
        self.assertEqual(status, 1)
        self.assertIn("was killed by signal 9", errors)

    def test_results_until_a_failure(self):
        """What was measured before is told and written, and that it is not all."""
        path = self.directory / "out.json"
        fail_later = self.directory / "later"
        fail_later.write_text(
            f'#!/bin/sh\necho >> {fail_later}.count\n'
            f'[ $(wc -l < {fail_later}.count) -le 4 ] && how=ok || how=die-at-start\n'
            f'exec {sys.executable} {FAKE} $how 1e6 "$@"\n')
        fail_later.chmod(0o755)
        status, output, errors = self.run_tool(
            f"--build=a={fail_later}", "--sizes=64", "--rounds=9", "--directions=loop",
            f"--json={path}")
        self.assertEqual(status, 1)
        self.assertIn("ended with exit status 5", errors)
        self.assertIn("warning: incomplete, this run did not come to its end", output)
        row = json.loads(path.read_text())["results"][0]
        self.assertEqual(row["windows"] + row["dropped"], 2)

    def test_nobody_reads(self):
        """A pipe that is closed: the files are written all the same, and no traceback."""
        path = self.directory / "out.json"
        process = self.start(self.fake("a"), "--rounds=1", "--sizes=64", "--directions=loop",
                             f"--json={path}")
        process.stdout.close()
        errors = process.stderr.read()
        self.assertEqual(process.wait(60), 128 + signal.SIGPIPE, errors)
        process.stderr.close()
        self.assertNotIn("rror", errors)
        self.assertEqual(len(json.loads(path.read_text())["results"]), 1)

    def test_disk_is_full(self):
        """The tables are printed all the same."""
        status, output, errors = self.run_tool(
            self.fake("a"), "--rounds=1", "--sizes=64", "--directions=loop", "--json=/dev/full")
        self.assertEqual(status, 1)
        self.assertIn("64 bytes, split ring, loop, Mpps", output)
        self.assertIn("No space left", errors)


if __name__ == "__main__":
    unittest.main()
