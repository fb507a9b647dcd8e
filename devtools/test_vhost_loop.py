#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Tests of the whole of dpdk-vhost-loop.py, with a fake testpmd."""

import json
import subprocess
import sys
import unittest

from vhost_loop_case import LoopCase, TOOL


class LoopTest(LoopCase):
    """The whole tool, with a fake testpmd."""

    def test_ratio(self):
        """Rates of two builds, in all directions and a mix, and their ratio."""
        status, output, errors = self.run_tool(
            self.fake("slow"), self.fake("fast", rate=2e6), "--sizes=64,imix", "--rounds=8",
            "--window=0.1", "--directions=loop,enqueue", f"--json={self.directory}/out.json")
        self.assertEqual(status, 0, errors)
        rows = json.loads((self.directory / "out.json").read_text())["results"]
        self.assertEqual([(row["direction"], row["size"]) for row in rows[::2]],
                         [("loop", 64), ("loop", "imix"), ("enqueue", 64)])
        for row in rows[1::2]:
            self.assertTrue(1.5 < row["ratio"] < 2.5, row)
            self.assertEqual(row["verdict"], "faster")
        self.assertIn("mixed sizes (imix), split ring, loop, Mpps", output)
        self.assertRegex(output, r"steal time: \d+\.\d% of the CPUs that forward")
        self.assertEqual(self.leftovers(), [])

    def test_exit_status_of_compare(self):
        """3 when a build has become slower, against the ratio of before."""
        old = f"{self.directory}/old.json"
        args = ["--sizes=64", "--rounds=8", "--window=0.1", "--directions=loop", self.fake("a")]
        self.assertEqual(self.run_tool(*args, self.fake("b", rate=2e6), f"--json={old}")[0], 0)
        status, output, _ = self.run_tool(*args, self.fake("b", rate=1e6), f"--compare={old}")
        self.assertEqual(status, 3)
        self.assertRegex(output, r"LOSS +\S+ 64 split loop b: ratio [12]\.\d+ before")
        self.assertNotIn("is of another", output)

    def test_compare_with_another_machine(self):
        """Told before the tables, or refused before anything is measured."""
        old = self.directory / "old.json"
        args = ["--sizes=64", "--rounds=8", "--window=0.1", "--directions=loop",
                self.fake("a"), self.fake("b")]
        self.assertEqual(self.run_tool(*args, f"--json={old}")[0], 0)
        written = json.loads(old.read_text())
        written["machine"]["kernel"] = "2.6.39"
        old.write_text(json.dumps(written))
        status, output, errors = self.run_tool(*args, f"--compare={old}", "--max-loss=50")
        self.assertEqual(status, 0, errors)
        self.assertRegex(output, r"warning: --compare: \S+old.json is of another kernel \(2.6.39, ")
        written["machine"]["cpu"] = "another one"
        old.write_text(json.dumps(written))
        status, output, errors = self.run_tool(*args, f"--compare={old}")
        self.assertEqual((status, output), (1, ""))
        self.assertIn("is of another CPU, another one, and this is", errors)

    def test_raw_windows(self):
        """All are written, with what they were judged by, so that others can do it anew."""
        path = self.directory / "out.json"
        self.assertEqual(self.run_tool(
            self.fake("a"), self.fake("b"), "--sizes=64,256", "--rounds=2", "--directions=loop",
            f"--json={path}")[0], 0)
        written = json.loads(path.read_text())
        windows = written["windows"]
        self.assertEqual([(window["size"], window["round"], window["build"]) for window in windows],
                         [(size, number, build) for size in (64, 256) for number in (1, 2)
                          for build in "aba"])
        for window in windows:
            self.assertAlmostEqual(window["value"], window["packets"] / window["seconds"] / 1e6)
            self.assertEqual((window["steal"], window["lost"]), (0, 0))
        self.assertEqual(sorted(written["machine"]["builds"]), ["a", "b"])
        self.assertGreater(written["machine"]["ticks_per_second"], 0)

    def test_no_case_of_nothing(self):
        """A mix is not measured in all directions: no time goes to the others."""
        status, _, errors = self.run_tool(
            self.fake("a"), "--sizes=imix", "--directions=latency,loop", "--rounds=1")
        self.assertEqual(status, 0, errors)
        self.assertNotIn("latency", errors)

    def test_time_left(self):
        """That of all that is to be measured, which does not begin anew."""
        status, _, errors = self.run_tool(
            self.fake("a"), "--sizes=64", "--directions=loop,latency", "--rounds=1",
            "--seconds=80000")
        self.assertEqual(status, 0, errors)
        self.assertRegex(errors, r"loop: round 1, at most (80000|799\d\d) s left")

    def test_uneven(self):
        """A machine that changes meanwhile is told of, one that does not is not."""
        args = "--sizes=64", "--directions=loop", "--rounds=2", "--window=0.3"
        for behaviour, told in (("ok", False), ("uneven", True)):
            status, output, errors = self.run_tool(self.fake("a", behaviour), *args)
            self.assertEqual(status, 0, errors)
            self.assertEqual("1 of the tables are of a machine that changed" in output, told,
                             output)

    def test_quick_with_the_time_that_was_asked_for(self):
        """Then nothing is left out."""
        tool = [sys.executable, "-c", f"import runpy; m = runpy.run_path({str(TOOL)!r});"
                "import sys; print(m['parse_args'](sys.argv[1:]).limit)", "--check", "--quick"]
        for args, limit in (([], "110\n"), (["--seconds=100"], "inf\n")):
            self.assertEqual(subprocess.check_output(tool + args, text=True), limit)

    def test_modes(self):
        """Builds that have copy modes are measured in each, others as they are."""
        status, output, errors = self.run_tool(
            self.fake("old"), self.fake("new", "modes"), "--modes=auto,wide", "--rounds=1",
            "--sizes=64", "--directions=loop,latency")
        self.assertEqual(status, 0, errors)
        for text in ("new/auto", "new/wide"):
            self.assertIn(text, output)
        self.assertEqual(errors.count("old: its vhost has no copy modes"), 1)

    def verify(self, behaviour, *args):
        """Check packets; return exit status, the last line, and errors."""
        status, output, errors = self.run_tool(
            self.fake("plain"), self.fake("new", behaviour), "--verify", "1000", *args)
        return status, (output.splitlines() or [""])[-1], errors

    def test_verify(self):
        """All builds are checked, by the one that can."""
        path = self.directory / "verify.json"
        status, line, errors = self.verify("verify", f"--json={path}", "--rings=split,packed")
        self.assertEqual(status, 0, errors)
        self.assertEqual(line, "verify: ok, 4000 packets of 24 to 1518 bytes, "
                         "none lost, reordered or corrupted")
        self.assertEqual([(row["build"], row["ring"]) for row in
                          json.loads(path.read_text())["results"]],
                         [("plain", "split"), ("new", "split"),
                          ("plain", "packed"), ("new", "packed")])

    def test_verify_finds(self):
        """Corrupted packets, and those that do not come back, are told by line and status."""
        status, line, _ = self.verify("verify-corrupt")
        self.assertEqual((status, line), (4, "verify: FAILED in 2 of 2 variants: 0 lost, "
                                          "0 reordered, 6 corrupted, 2000 right"))
        status, line, _ = self.verify("verify-stuck")
        self.assertEqual((status, line), (4, "verify: FAILED in 2 of 2 variants: 128 lost, "
                                          "0 reordered, 0 corrupted, 10 right"))

    def test_verify_must_see(self):
        """A check that lets changed packets pass is none, nor is there one in plain DPDK."""
        status, _, errors = self.verify("verify-blind")
        self.assertEqual(status, 1)
        self.assertIn("plain: the check of packets finds none corrupted", errors)
        status, _, errors = self.verify("ok")
        self.assertEqual(status, 1)
        self.assertIn("--verify needs a build that has the patchset", errors)

    def test_two_at_a_time(self):
        """Two runs do not disturb each other."""
        args = (self.fake("a"), "--rounds=2", "--sizes=64", "--directions=loop")
        processes = [self.start(*args) for _ in range(2)]
        for process in processes:
            _, errors = process.communicate(timeout=150)
            self.assertEqual(process.returncode, 0, errors)
        self.assertEqual(self.leftovers(), [])

    def test_check(self):
        """Options are checked without a build and without measuring."""
        self.assertEqual(self.run_tool("--check", "--quick", "--sizes=64,imix"), (0, "", ""))
        self.assertEqual(self.run_tool("--check", "--sizes=9")[0], 2)

    def test_no_gnuplot(self):
        """It is found out at once."""
        done = subprocess.run([sys.executable, str(TOOL), "--check", "--plot=x"], check=False,
                              capture_output=True, text=True, env={"PATH": "/nonexistent"})
        self.assertEqual(done.returncode, 2)
        self.assertIn("--plot: gnuplot is not installed", done.stderr)

    def test_refused(self):
        """Arguments that make no sense: one line, nothing done."""
        good, two = self.fake("a"), self.fake("b")
        for args, text in (
                ([], "required: --build"),
                (["--build=x"], "x: not NAME=DIR"),
                (["--build=x=/nonexistent"], "x: no dpdk-testpmd at"),
                ([good, good], "two builds a"),
                ([good, f"--build=b={self.directory}/a"], "same build"),
                ([good, "--sizes=63"], "63: not a size of 64 to 1518"),
                ([good, "--sizes=64,64"], "a size is there twice"),
                ([good, "--sizes="], "nothing: not a size"),
                ([good, "--rings=round"], "round: not a ring kind"),
                ([good, "--directions=up"], "up: not a direction"),
                ([good, "--modes=fast"], "fast: not a copy mode"),
                ([good, "--cores=1"], "1: not two different CPUs"),
                ([good, "--cores=1,1"], "1,1: not two different CPUs"),
                ([good, "--window=nan"], "nan: not a number"),
                ([good, "--max-loss=3"], "--max-loss is for --compare"),
                ([good, "--compare=x"], "--compare: a single build has no ratio"),
                ([good, two, "--compare=x", "--rounds=5"], "--compare needs 6 rounds"),
                ([good, "--verify=0"], "0: not a number of packets"),
                ([good, "--verify", "1e6", "--sizes=64"], "--sizes does not go with --verify"),
                ([good, "--rounds=0"], "0: not a number"),
                ([good, "--rounds=2.5"], "2.5: not a number"),
                ([good, "--kinds=P,P"], "P,P: a kind is there twice"),
                ([good, "--sizes=imix", "--directions=latency"], "imix is for the direction loop"),
                ([f"--build=a\nb={self.directory}/a"], r"'a\nb': not a name for a table"),
                ([good, "--json=/nonexistent/x"], "--json /nonexistent/x: cannot write there"),
                ([good, "--json=/proc/version/x"], "cannot write there"),
                ([good, "--json=./x", "--csv=x"], "--json and --csv are the same file"),
                ([good, f"--csv={self.directory}"], "cannot write there")):
            status, output, errors = self.run_tool(*args)
            self.assertEqual((status, output), (2, ""), args)
            self.assertIn(text, errors)
        for args, text in (([good, "--cores=0,4095"], "CPU 4095: not one that this process may"),
                           ([good, "--kinds=Z"], "--kinds Z: no two usable cores"),
                           ([good, two, "--compare=/nonexistent"], "/nonexistent: not what"),
                           (["--check", "--compare=/nonexistent"], "/nonexistent: not what")):
            status, _, errors = self.run_tool(*args)
            self.assertEqual(status, 1, args)
            self.assertIn(text, errors)


if __name__ == "__main__":
    unittest.main()
