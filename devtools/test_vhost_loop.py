#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Tests of what devtools/vhost-loop reads from build directories and arguments."""

import importlib.machinery
import importlib.util
import json
import pathlib
import platform
import subprocess
import sys
import tempfile
import unittest

TOOL = pathlib.Path(__file__).resolve().parent / "vhost-loop"
sys.dont_write_bytecode = True


def load_tool():
    """Import devtools/vhost-loop, which has no .py in its name."""
    loader = importlib.machinery.SourceFileLoader("vhost_loop", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class OptionsTest(unittest.TestCase):
    """The options that the header of the table names."""

    def options(self, values):
        """Return the options of a build directory with these values."""
        with tempfile.TemporaryDirectory() as directory:
            info = pathlib.Path(directory) / "meson-info"
            info.mkdir()
            (info / "intro-buildoptions.json").write_text(json.dumps(
                [{"name": name, "value": value} for name, value in values.items()]))
            return load_tool().Build("name", None, pathlib.Path(directory)).options

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

    def test_build_of_dpdk_itself(self):
        """A patched tree on its own has no prefix."""
        self.assertIs(self.options({"use_cc_memcpy": True})["use_cc_memcpy"], True)


class ArgumentsTest(unittest.TestCase):
    """What is refused before anything is measured."""

    def test_json_that_cannot_be_written(self):
        """A report without a place would be lost after minutes."""
        with tempfile.TemporaryDirectory() as directory:
            testpmd = pathlib.Path(directory) / "dpdk-testpmd"
            testpmd.write_text("#!/bin/sh\n")
            testpmd.chmod(0o755)
            for place in ("/nonexistent/rates.json", directory):
                done = subprocess.run(
                    [str(TOOL), "--build", f"a={testpmd}", "--json", place], text=True,
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=30, check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(f"--json {place}: cannot write there", done.stderr)


class CpuTest(unittest.TestCase):
    """The CPU that the header of the table names."""

    def test_family_tells_generations_apart(self):
        """A virtual machine may call two generations by the same name."""
        cpuinfo = "cpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\nstepping\t: 1\n"
        self.assertEqual(load_tool().cpu_model(cpuinfo), "AMD EPYC (family 26, model 2)")

    def test_cpu_without_family(self):
        """As on POWER and Arm."""
        self.assertEqual(load_tool().cpu_model("processor\t: 0\n"), platform.machine())


class ProcessTest(unittest.TestCase):
    """Processes that it starts."""

    def test_dies_only_with_its_parent(self):
        """A parent that is process 1 of a container is no reason to die, one that has ended is."""
        tool = load_tool()
        ask = ("import importlib.machinery as m, importlib.util as u, os, sys;"
               f"l = m.SourceFileLoader('v', {str(TOOL)!r});"
               "v = u.module_from_spec(u.spec_from_loader('v', l)); l.exec_module(v);"
               "v.die_with(int(sys.argv[1]))()")
        for parent, status in ((tool.os.getpid(), 0), (1, 1)):
            done = subprocess.run([sys.executable, "-c", ask, str(parent)], check=False)
            self.assertEqual(done.returncode, status)


if __name__ == "__main__":
    unittest.main()
