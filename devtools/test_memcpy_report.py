#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Tests of devtools/memcpy-report with a dpdk-test that only pretends to measure."""

import html
import os
import pathlib
import subprocess
import sys
import tempfile
import textwrap
import unittest

TOOL = pathlib.Path(__file__).resolve().parent / "memcpy-report"
# Cycles come from the file beside it, one line per run: rte_memcpy's and libc's.
FAKE = """\
    #!/usr/bin/env python3
    import json, os, pathlib, sys
    here = pathlib.Path(sys.argv[0]).parent
    runs = (here / "cycles").read_text().splitlines()
    ours, libc = map(float, runs[0].split())
    (here / "cycles").write_text("\\n".join(runs[1:]) + "\\n")
    def row(table, name, size, impl, cycles):
        return {"record": "row", "table": table, "name": name, "dst_offset": 12, "set": "hot",
                "size": size, "impl": impl, "cycles_min": cycles, "cycles_median": cycles + 1}
    mode = "pristine" if here.parent.name == "old" else "simd"
    records = [{"record": "machine", "cpu": "a CPU's name", "family": 26, "model": 2,
                "compiler": "a compiler", "isa": "avx_2", "mode": mode}]
    for impl, cycles in (("rte_memcpy", ours), ("libc", libc), ("compiler", 99)):
        records += [row("mix", "60-256", None, impl, cycles),
                    row("alias", "4KiB", 512, impl, cycles),
                    row("fixed", "64", 64, impl, cycles), row("fixed", "256", 256, impl, cycles * 4),
                    row("fixed", "512", 512, impl, 1000)]
    with open(os.environ["MEMCPY_PERF_JSON"], "w") as file:
        file.writelines(json.dumps(record) + "\\n" for record in records)
"""


class ReportTest(unittest.TestCase):
    """Each test has a directory of its own."""

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="test-memcpy-report-"))
        self.addCleanup(subprocess.run, ["rm", "-rf", str(self.dir)], check=True)

    def fake_build(self, name, cycles, program=FAKE):
        """Make a build directory whose dpdk-test says what it is told; return an argument."""
        app = self.dir / name / "app"
        app.mkdir(parents=True)
        (app / "cycles").write_text(cycles)
        (app / "dpdk-test").write_text(textwrap.dedent(program))
        (app / "dpdk-test").chmod(0o755)
        return f"--build={name}={self.dir / name}"

    def report(self, *args, path=None):
        """Run the tool."""
        env = dict(os.environ, PATH=path or os.environ["PATH"])
        return subprocess.run([sys.executable, str(TOOL), "--output", str(self.dir / "out"), *args],
                              text=True, capture_output=True, env=env, check=False)

    def assert_refused(self, done, *texts):
        """One clear line, no traceback, exit status 1."""
        self.assertEqual(done.returncode, 1, done.stderr)
        lines = [line for line in done.stderr.splitlines() if ": error: " in line]
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertNotIn("Traceback", done.stderr)
        for text in texts:
            self.assertIn(text, lines[0])

    def test_takes_the_least_of_all_rounds(self):
        """Two rounds; libc's least comes from the other build."""
        done = self.report(self.fake_build("old", "40 30\n50 30\n"),
                           self.fake_build("new", "21 33\n20 25\n"), "--rounds=2", "--seconds=5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| 60-256 | 12 | hot | 40.0 | 20.0 | 25.0 | 2.00 | 1.60 |", done.stdout)
        self.assertIn("| 4KiB, 512 bytes | 12 | hot | 40.0 |", done.stdout)
        # sqrt(40 * 160); 512 bytes are above what the mean is of
        self.assertIn("| 1-256, geometric mean | 12 | hot | 80.0 | 40.0 | 50.0 | 2.00 | 1.60 |",
                      done.stdout)
        for line in ("* old: a compiler, avx_2, pristine", "* new: a compiler, avx_2, simd"):
            self.assertIn(line, done.stdout.splitlines())
        self.assertEqual((self.dir / "out/report.md").read_text(), done.stdout)

    def test_plots_need_gnuplot(self):
        """Without it the tool says so, and the report has none."""
        build = self.fake_build("one", "40 30\n")
        bare = self.dir / "bin"
        bare.mkdir()
        for program in ("env", "python3"):
            (bare / program).symlink_to(f"/usr/bin/{program}")
        done = self.report(build, "--rounds=1", path=str(bare))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("gnuplot-nox", done.stderr)
        self.assertNotIn(".svg", done.stdout)

    def test_draws_plots(self):
        """The curves go through what was measured."""
        if subprocess.run(["which", "gnuplot"], capture_output=True, check=False).returncode:
            self.skipTest("no gnuplot")
        done = self.report(self.fake_build("one", "40 30\n"), "--rounds=1")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.dir / "out/cycles.dat").read_text().splitlines()[:2],
                         ["64 40.00 30.00", "256 160.00 120.00"])
        for name in ("cycles", "ratio"):
            plot = (self.dir / f"out/{name}.svg").read_text()
            self.assertIn("</svg>", plot)
            title = "a CPU's name, family 26, model 2; a compiler, avx_2; destination +12"
            self.assertIn(title, html.unescape(plot))
            self.assertIn(f"({name}.svg)", done.stdout)

    def test_refuses_bad_builds(self):
        """Each names the argument."""
        good = self.fake_build("good", "1 1\n")
        for build, text in (("--build=good", "NAME=DIR"), ("--build=libc=/tmp", "not libc"),
                            ("--build=x=/nonexistent", "no /nonexistent/app/dpdk-test")):
            self.assert_refused(self.report(build), build.partition("=")[2], text)
        self.assert_refused(self.report(good, good), "two builds good")

    def test_refuses_other_output(self):
        """A dpdk-test without our benchmark, one that fails, one that writes something else."""
        silent = self.fake_build("silent", "", "#!/bin/sh\n")
        self.assert_refused(self.report(silent, "--rounds=1"), "silent-1.json")
        failing = self.fake_build("failing", "", "#!/bin/sh\nexit 3\n")
        self.assert_refused(self.report(failing, "--rounds=1"), "failing", "failing.log")
        other = self.fake_build("other", "", "#!/bin/sh\necho no > $MEMCPY_PERF_JSON\n")
        self.assert_refused(self.report(other, "--rounds=1"), "other-1.json")

    def test_refuses_bad_numbers(self):
        """argparse says which."""
        for option, more in (("--rounds", ()), ("--seconds", ("4", "3601"))):
            for value in ("0", "-1", "x", *more):
                done = self.report(f"{option}={value}")
                self.assertEqual(done.returncode, 2)
                self.assertIn(option, done.stderr)


if __name__ == "__main__":
    unittest.main()
