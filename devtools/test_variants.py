#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Tests of devtools/build-variants and devtools/pgo, where all that they call is a stub."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

DEVTOOLS = pathlib.Path(__file__).resolve().parent
COUNTS = "lib/librte_vhost.a.p/vhost_virtio_net.c.gcda"


class VariantsTest(unittest.TestCase):
    """A tree of stubs that write down how they were called."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.root = pathlib.Path(directory.name)
        self.calls = self.root / "calls"
        for name in ("devtools", "usertools", "bin"):
            (self.root / name).mkdir()
        for name in ("build-variants", "pgo", "testpmd-build.sh"):
            shutil.copy(DEVTOOLS / name, self.root / "devtools" / name)
        self.stub("devtools/quickstart")
        self.stub("devtools/install-deps")
        self.stub("devtools/patchset")
        self.stub("bin/meson", 'if [ $1 = setup ]; then touch "$2/build.ninja"; fi')
        self.stub("bin/ninja")
        self.stub("bin/gcc-12")
        self.stub("usertools/dpdk-vhost-loop.py", 'dir=build/variants/gcc-12/pgo\n'
                  f'mkdir -p $(dirname $dir/{COUNTS}); touch $dir/{COUNTS}')
        # The real tools that the scripts need, but no real compiler.
        for name in ("sh", "dirname", "mkdir", "touch", "rm", "find", "cat", "sleep", "tail",
                     "grep", "nproc", "date", "flock", "env"):
            (self.root / "bin" / name).symlink_to(shutil.which(name))

    def stub(self, name, script=""):
        """Make a program that writes down its name and arguments."""
        path = self.root / name
        path.write_text(f'#!/bin/sh\necho "${{0##*/}} $*" >> {self.calls}\n{script}\n')
        path.chmod(0o755)

    def run_script(self, name, *args):
        """Run a script; return exit status, output and errors."""
        done = subprocess.run([str(self.root / "devtools" / name), *args], check=False, text=True,
                              capture_output=True, timeout=60,
                              env=dict(os.environ, PATH=str(self.root / "bin")))
        return done.returncode, done.stdout, done.stderr

    def called(self):
        """Return the lines that the stubs have written."""
        return self.calls.read_text().splitlines() if self.calls.exists() else []

    def test_finds_compilers(self):
        """Those that are installed, each once; and the command that compares all of them."""
        self.stub("bin/clang-14")
        self.stub("bin/gcc")
        status, output, errors = self.run_script("build-variants")
        self.assertEqual(status, 0, errors)
        self.assertEqual(self.called(), [f"quickstart --cc {name} --build-only"
                                         for name in ("gcc-12", "clang-14")])
        self.assertIn("--build simd@gcc-12=build/variants/gcc-12/simd", output)
        self.assertEqual(output.count("--build "), 6)

    def test_stops(self):
        """A build that fails ends it, without a command."""
        self.stub("devtools/quickstart", "exit 1")
        self.stub("bin/gcc-13")
        status, output, _ = self.run_script("build-variants")
        self.assertEqual((status, output, len(self.called())), (1, "", 1))

    def test_wrong_compilers(self):
        """One line that says what is wrong, and nothing is built."""
        (self.root / "bin" / "gcc-12").rename(self.root / "bin" / "gcc-99")
        for script, args, text in (
                ("build-variants", ["gcc-98"], "build-variants: no compiler gcc-98"),
                ("build-variants", ["gcc-99", "gcc"], "gcc: name its version, as in gcc-12"),
                ("build-variants", [], "no gcc-11 to gcc-14 and no clang-14 to clang-19"),
                ("pgo", [], "pgo: no gcc is installed"),
                ("pgo", ["gcc-98"], "pgo: no compiler gcc-98"),
                ("pgo", ["gcc-9x"], "gcc-9x: not a version of GCC"),
                ("pgo", ["clang-14"], "clang-14: profiles are of GCC here"),
                ("pgo", ["gcc-99", "gcc-98"], "one compiler at a time")):
            status, output, errors = self.run_script(script, *args)
            self.assertEqual((status, output), (1, ""), args)
            self.assertIn(text, errors)
        for script in ("build-variants", "pgo"):
            status, _, errors = self.run_script(script, "--fast")
            self.assertEqual(status, 2)
            self.assertIn(f"usage: {script}", errors)
        self.assertEqual(self.called(), [])
        self.assertFalse((self.root / "build").exists())

    def test_pgo(self):
        """Counters, training, the profile: in this order, in one directory."""
        status, output, errors = self.run_script("pgo", "gcc-12")
        self.assertEqual(status, 0, errors)
        where = self.root / "build" / "variants" / "gcc-12" / "pgo"
        steps = [line for line in self.called() if line.split()[0] in (
            "meson", "ninja", "dpdk-vhost-loop.py")]
        for step, texts in zip(steps, (
                (f"meson setup {where}", "-Duse_cc_memcpy=true", "-Db_pgo=generate"),
                (f"ninja -C {where}",), (f"dpdk-vhost-loop.py --build pgo={where}",),
                (f"meson configure {where}", "-Db_pgo=use"), (f"ninja -C {where}",))):
            for text in texts:
                self.assertIn(text, step)
        self.assertEqual(len(steps), 5)
        self.assertIn("--build pgo@gcc-12=build/variants/gcc-12/pgo", output)

    def test_pgo_without_counts(self):
        """A profile of nothing is none."""
        self.stub("usertools/dpdk-vhost-loop.py")
        status, output, errors = self.run_script("pgo", "gcc-12")
        self.assertEqual((status, output), (1, ""))
        self.assertIn("the loop has left no counts of the vhost library", errors)
        self.assertFalse(any("b_pgo=use" in line for line in self.called()))


if __name__ == "__main__":
    unittest.main()
