# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""What the tests of usertools/dpdk-vhost-loop.py have in common; puts its modules on the path."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = ROOT / "usertools" / "dpdk-vhost-loop.py"
FAKE = ROOT / "devtools" / "fake_testpmd.py"
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "usertools"))
# The tool, on a machine from which no hypervisor takes time: rates are those of a fake.
RUN_TOOL = [sys.executable, "-c", f"""
import runpy, sys
sys.argv[0] = {str(TOOL)!r}
sys.path.insert(0, {str(ROOT / "usertools")!r})
from vhost_loop import testpmd
testpmd.steal_ticks = lambda cpus: 0
runpy.run_path(sys.argv[0], run_name="__main__")
"""]

from vhost_loop import testpmd, topology  # noqa: E402  pylint: disable=wrong-import-position


def window(value, dropped=None):
    """Return a window."""
    return testpmd.Window(value, dropped)


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two CPUs")
class LoopCase(unittest.TestCase):
    """A test of the whole tool, with a fake testpmd."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def fake(self, name, behaviour="ok", rate=1e6):
        """Make a testpmd with a behaviour; return the argument that names it."""
        path = self.directory / name
        path.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} {behaviour} {rate} "$@"\n')
        path.chmod(0o755)
        return f"--build={name}={path}"

    def start(self, *args):
        """Start the tool, with Ctrl-C as on a terminal; shells take it from background jobs."""
        return subprocess.Popen([*RUN_TOOL, "--no-huge", "--window", "0.05", *args],
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))

    def run_tool(self, *args):
        """Run the tool; return exit status, output and errors."""
        process = self.start(*args)
        output, errors = process.communicate(timeout=150)
        return process.returncode, output, errors

    def leftovers(self):
        """Return processes and files of the tool that are still there; they get some time."""
        end = time.monotonic() + 5
        while True:
            found = [str(path) for path in pathlib.Path("/tmp").glob("vhost-loop-*")
                     if path not in self.before]
            for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
                try:
                    if str(self.directory).encode() in path.read_bytes():
                        found.append(str(path))
                except OSError:
                    pass
            if not found or time.monotonic() > end:
                return found
            time.sleep(0.05)

    def run(self, result=None):
        """Remember what others have in /tmp before each test."""
        self.before = set(pathlib.Path("/tmp").glob("vhost-loop-*"))
        return super().run(result)

    def pair(self, behaviour, deadline=float("inf"), **options):
        """Return a pair of a build with a behaviour and options."""
        self.fake("fake", behaviour)
        build = testpmd.Build("fake", self.directory / "fake", self.directory)
        build.options = options
        where = topology.Machine().place(topology.Machine().kinds()[0])
        return testpmd.Pair(build, where, "split", False, str(self.directory), deadline=deadline)
