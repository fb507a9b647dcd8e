#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Tests of the tables, files and comparisons of dpdk-vhost-loop.py."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from vhost_loop_case import ROOT, TOOL, window
from vhost_loop import LoopError, report

REFERENCE = ROOT / "doc" / "guides" / "tools" / "vhost_loop.rst"


def rows_of(values, direction="loop", size=64):
    """Return the rows of {build: windows}, the first one being the baseline.

    It has the same window in a round before and after each of the others.
    """
    variants = [(build, "") for build in values]
    rounds = []
    for windows in zip(*values.values()):
        base, *others = zip(variants, windows)
        rounds.append([base] + [one for other in others for one in (other, base)])
    return report.summarize(("P", "split", direction, size), variants, rounds)


class ReportTest(unittest.TestCase):
    """Tables, files, comparison."""

    ROWS = {"base": [window(10 + i / 100) for i in range(8)],
            "new": [window(11 + i / 100) for i in range(8)]}

    def test_row(self):
        """The figures of a row."""
        row = rows_of(self.ROWS)[1]
        self.assertAlmostEqual(row["ratio"], 1.0997, 3)
        self.assertEqual((row["verdict"], row["windows"]), ("faster", 8))

    def test_dropped_windows(self):
        """They are neither in the median nor in the ratios, and are counted."""
        values = dict(self.ROWS, new=[window(500, "steal")] + self.ROWS["new"][1:])
        row = rows_of(values)[1]
        self.assertEqual((row["dropped"], row["windows"]), (1, 7))
        self.assertLess(row["max"], 12)
        text = "\n".join(report.text_tables([row]))
        self.assertIn("1 of 8 windows were dropped:\n  steal: the hypervisor took CPU time\n  64",
                      text)
        self.assertIn("  64 bytes, split ring, loop, P, new: 1 steal", text)

    def test_reasons(self):
        """Each with its count."""
        self.assertEqual(report.reasons([window(1, "steal"), window(2), window(None, "loss"),
                                         window(1, "steal")]), "1 loss, 2 steal")

    def test_latency_is_better_when_less(self):
        """More microseconds are slower."""
        self.assertEqual(rows_of(self.ROWS, "latency")[1]["verdict"], "slower")
        self.assertEqual(rows_of(self.ROWS, "latency")[1]["unit"], "us")

    def test_table(self):
        """One table per size, cells below their heads."""
        text = report.text_tables(rows_of(self.ROWS) + rows_of(self.ROWS, size="imix"))
        self.assertEqual(text[1], "64 bytes, split ring, loop, Mpps")
        self.assertEqual(text[3].split()[:3], ["P", "base", "10.04"])
        self.assertRegex(text[4], r"new +11\.0\d .* 1\.\d{3} - 1\.\d{3}  faster$")
        self.assertIn("mixed sizes (imix), split ring, loop, Mpps", text)

    def test_matrix(self):
        """Modes by compilers, where builds are named so; a gap where there is no such build."""
        base, new = self.ROWS["base"], self.ROWS["new"]
        rows = rows_of({"cc@gcc-12": base, "simd@gcc-12": new, "cc@clang-14": new})
        text = "\n".join(report.text_tables(rows))
        self.assertIn("64 bytes, split ring, loop: ratio to cc@gcc-12", text)
        self.assertRegex(text, r"core +mode +gcc-12 +clang-14")
        self.assertRegex(text, r"P +cc +1\.000 +1\.100 \(1\.\d+ - 1\.\d+\)")
        self.assertRegex(text, r"P +simd +1\.100 \(1\.\d+ - 1\.\d+\) +-")
        self.assertIn("|---|---|---|---|\n| P | cc | 1.000 | 1.1", report.markdown([], rows))
        self.assertEqual(report.matrices(rows_of(self.ROWS)), [])

    def test_markdown_of_odd_names(self):
        """A name does not end a cell."""
        text = report.markdown([], rows_of({"a|b": self.ROWS["base"]}))
        self.assertIn(r"| P | a\|b | 10.04", text)

    def test_files(self):
        """What is written can be read back."""
        rows = rows_of(self.ROWS)
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "r"
            path.write_text(json.dumps({"header": [], "results": rows}))
            self.assertEqual(list(report.read_json(path)[0].values()), rows)
            path.write_text(report.json_text({"results": rows, "machine": {"cpu": "x"}},
                                             [{"a": 1}]))
            self.assertEqual(report.read_json(path), (
                {report.key(row): row for row in rows}, {"cpu": "x"}))
            self.assertEqual(json.loads(path.read_text())["windows"], [{"a": 1}])
            report.write_csv(path, rows)
            lines = path.read_text().splitlines()
        self.assertEqual(lines[0].split(",")[:5], ["core", "ring", "direction", "size", "build"])
        self.assertEqual(len(lines), 3)
        self.assertIn("| P | new | 11.0", report.markdown(["line"], rows))

    def test_compare(self):
        """Only a loss beyond the limit, and beyond noise, is one."""
        old = {report.key(row): row for row in rows_of(self.ROWS)}
        slower = dict(self.ROWS, new=[window(w.value * 0.95) for w in self.ROWS["new"]])
        self.assertFalse(report.compare(rows_of(self.ROWS), old, 0.02)[1])
        self.assertTrue(report.compare(rows_of(slower), old, 0.02)[1])
        self.assertFalse(report.compare(rows_of(slower), old, 0.06)[1])
        noisy = dict(self.ROWS, new=[window(w.value * (0.8 if i % 2 else 1.1))
                                     for i, w in enumerate(self.ROWS["new"])])
        self.assertFalse(report.compare(rows_of(noisy), old, 0.02)[1])

    def test_compare_latency(self):
        """More time is a loss, less is none."""
        old = {report.key(row): row for row in rows_of(self.ROWS, "latency")}
        for factor, worse in ((1.05, True), (0.9, False)):
            now = dict(self.ROWS, new=[window(w.value * factor) for w in self.ROWS["new"]])
            self.assertIs(report.compare(rows_of(now, "latency"), old, 0.02)[1], worse)

    def test_compare_with_nothing_in_common(self):
        """Silence would look like success."""
        with self.assertRaisesRegex(LoopError, "nothing could be compared"):
            report.compare(rows_of(self.ROWS), {}, 0.02)

    def test_compare_to_another_baseline(self):
        """Ratios to something else say nothing of this one."""
        old = {report.key(row): row for row in rows_of(dict(reversed(list(self.ROWS.items()))))}
        with self.assertRaisesRegex(LoopError, "the baseline was another one"):
            report.compare(rows_of(self.ROWS), old, 0.02)
        with self.assertRaisesRegex(LoopError, "old.json: has no ratio of these builds to base"):
            report.check_old("old.json", old, ["base", "new"], [64], ["split"], ["loop"])
        report.check_old("old.json", old, ["new", "base"], [64], ["split"], ["loop"])

    def test_what_is_not_compared_is_told(self):
        """A row whose windows were all dropped, and a new one."""
        old = {report.key(row): row for row in rows_of(dict(self.ROWS, gone=self.ROWS["new"]))}
        gone = [window(1, "steal")] * 8
        lines, worse = report.compare(
            rows_of(dict(self.ROWS, gone=gone, more=self.ROWS["new"])), old, 0.02)
        self.assertFalse(worse)
        self.assertEqual(lines[1:], ["-     P 64 split loop gone: not compared, "
                                     "too few pairs of windows now",
                                     "-     P 64 split loop more: not compared, "
                                     "not in the older run"])

    def test_old_runs_that_are_none(self):
        """Found out before anything is measured."""
        good = rows_of(self.ROWS)[1]
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "old.json"
            for what in ([], {}, {"results": [good], "machine": [1]},
                         {"results": 3}, {"results": [3]}, {"results": [{}]},
                         {"results": [dict(good, ratio="1")]}, {"results": [dict(good, build=[])]},
                         {"results": [dict(good, ratio=float("nan"))]},
                         {"results": [dict(good, verdict=1)]},
                         {"results": [good], "machine": {"builds": 1}},
                         {"results": [{k: v for k, v in good.items() if k != "ratio"}]}):
                path.write_text(json.dumps(what))
                with self.assertRaisesRegex(LoopError, "not what --json writes", msg=what):
                    report.read_json(path)

    FACTS = {"cpu": "AMD (family 25, model 1)", "hypervisor": "kvm", "kernel": "6.1",
             "huge_pages": "yes", "builds": {"base": "GCC 12.2.0", "new": "clang 14.0.6"}}

    def test_same_machine(self):
        """Nothing to tell, with other builds too."""
        other = dict(self.FACTS, builds={"base": "GCC 12.2.0", "gone": "GCC 9"})
        self.assertIsNone(report.check_machine("old", self.FACTS, self.FACTS))
        self.assertIsNone(report.check_machine("old", other, self.FACTS))

    def test_other_machine(self):
        """All that is not as it was, in one line; another CPU is refused."""
        other = dict(self.FACTS, huge_pages="no", kernel="6.2", hypervisor="none seen",
                     builds=dict(self.FACTS["builds"], base="GCC 11.4.0"))
        self.assertEqual(
            report.check_machine("old", other, self.FACTS),
            "old is of another hypervisor (none seen, now kvm) and kernel (6.2, now 6.1) and "
            "huge pages (no, now yes) and base (GCC 11.4.0, now GCC 12.2.0)")
        with self.assertRaisesRegex(LoopError, "old: is of another CPU, AMD .family 26, model 2"):
            report.check_machine("old", dict(self.FACTS, cpu="AMD (family 26, model 2)"),
                                 self.FACTS)
        self.assertIn("does not tell", report.check_machine("old", {}, self.FACTS))

    def test_plot(self):
        """Sizes in order, with their error bars; a mix has no place on the axis."""
        rows = rows_of(self.ROWS, size=256) + rows_of(self.ROWS) + rows_of(self.ROWS, size="imix")
        curves = report.plot_curves(rows)
        self.assertEqual([row["size"] for row in curves["new"]], [64, 256])
        script = report.gnuplot_script(curves, "ratio", "svg", "x.svg", "Mpps")
        self.assertIn("title 'new'", script)
        self.assertEqual(script.count("EOD\n"), 4)
        script = report.gnuplot_script({"o'ne": []}, "rate", "svg", "it's.svg", "Mpps")
        self.assertIn("set output 'it''s.svg'", script)
        self.assertIn("title 'o''ne' ", script)

    def test_plot_of_nothing(self):
        """Rows without windows or intervals have no place in a plot."""
        rows = rows_of({"base": [window(1, "steal")] * 8})
        if shutil.which("gnuplot"):
            with self.assertRaisesRegex(LoopError, "nothing that could be drawn"):
                report.write_plots(rows, "/nonexistent/x")
        self.assertEqual(report.plot_curves([]), {})

    def test_gnuplot_hangs(self):
        """Its time is limited."""
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "gnuplot"
            path.write_text("#!/bin/sh\nexec sleep 60\n")
            path.chmod(0o755)
            before = os.environ["PATH"], report.GNUPLOT_TIMEOUT_S
            os.environ["PATH"], report.GNUPLOT_TIMEOUT_S = f"{directory}:{before[0]}", 0.2
            try:
                with self.assertRaisesRegex(LoopError, "gnuplot: not ready after 0.2 s"):
                    report.run_gnuplot("")
            finally:
                os.environ["PATH"], report.GNUPLOT_TIMEOUT_S = before


class ReferenceTest(unittest.TestCase):
    """The page of options."""

    def test_options(self):
        """Each option of --help heads an entry of the page, and each entry is an option."""
        done = subprocess.run([sys.executable, str(TOOL), "--help"], check=True, text=True,
                              capture_output=True)
        options = set(re.findall(r"^  (?:-h, )?(--[a-z-]+)", done.stdout, re.M))
        heads = re.findall(r"^``--.*", REFERENCE.read_text(), re.M)
        entries = re.findall(r"``(--[a-z-]+)", "\n".join(heads))
        self.assertEqual(sorted(entries), sorted(options - {"--help"}))
        self.assertGreater(len(entries), 20)


if __name__ == "__main__":
    unittest.main()
