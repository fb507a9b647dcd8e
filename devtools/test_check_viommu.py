#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Tests of devtools/check-viommu --dpdk with a fake QEMU and a fake testpmd."""

import argparse
import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
TOOL = pathlib.Path(__file__).resolve().parent / "check-viommu"

# pylint: disable=wrong-import-position
import viommu_dpdk  # noqa: E402
import viommu_guest  # noqa: E402

QEMU = """#!/bin/sh
while [ "$1" != -serial ]; do shift; done
printf '%s\\n' "$SAYS" > "${2#file:}"
[ -n "$ENDS" ] || exec sleep 60
"""
# Rates are those of the build: from the guest, and to it.
TESTPMD = """#!/bin/sh
echo "${0##*/}" >> "${0%%/*}/starts"
for word; do case $word in net_vhost0,iface=*) socket=${word#*=}; esac; done
: > "${socket%%,*}"
while read -r line; do
	[ "$line" != "show port stats 0" ] ||
		printf '  Rx-pps:  %s  Rx-bps: 1\\n  Tx-pps:  %s  Tx-bps: 1\\n'
	[ "$line" != quit ] || exit 0
done
"""


class DpdkTest(unittest.TestCase):
    """Measures builds of which the rates are known."""

    def setUp(self):
        work = tempfile.TemporaryDirectory()
        self.addCleanup(work.cleanup)
        self.work = pathlib.Path(work.name)
        self.script("qemu-system-x86_64", QEMU)
        self.kernel = self.work / "kernel"
        modules = self.kernel / "lib/modules/1/kernel"
        modules.mkdir(parents=True)
        for name in viommu_dpdk.MODULES:
            (modules / f"{name}.ko").touch()
        for patch in (mock.patch.object(viommu_dpdk, "SETTLE_S", 0),
                      mock.patch.object(viommu_guest, "BUSYBOX", "/bin/true"),
                      mock.patch.dict(os.environ, SAYS="Press enter to exit", ENDS="",
                                      PATH=f"{self.work}:{os.environ['PATH']}")):
            patch.start()
            self.addCleanup(patch.stop)

    def script(self, name, text):
        """Write a program."""
        path = self.work / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def measure(self, rounds=1, **builds):
        """Run builds with (from, to) rates; return whether they passed, and what is printed."""
        args = argparse.Namespace(dpdk=pathlib.Path("/bin/true"), rounds=rounds, seconds=0,
                                  rings=["split"], keep=None)
        programs = [(name, self.script(name, TESTPMD % both)) for name, both in builds.items()]
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            passed = viommu_dpdk.run_cases(args, self.kernel, pathlib.Path("vmlinuz"), programs)
        return passed, output.getvalue()

    def test_rates(self):
        """Rates each way are those of testpmd, and the ratio is that of what came back."""
        passed, output = self.measure(2, ours=(3000000, 4000000), pristine=(2000000, 5000000))
        self.assertTrue(passed)
        self.assertRegex(output, r"split +ours +4\.000 +3\.000 +0\n")
        self.assertRegex(output, r"split +pristine +5\.000 +2\.000 +0\n")
        self.assertRegex(output, r"split +ratio +1\.500 +median of 2 pairs, 1\.500 to 1\.500\n")
        self.assertEqual((self.work / "starts").read_text().split(),
                         ["ours", "pristine", "pristine", "ours"])

    def test_slower(self):
        """Speed is no failure."""
        passed, output = self.measure(ours=(1, 1), pristine=(2, 2))
        self.assertTrue(passed)
        self.assertIn(" 0.500 ", output)

    def test_no_packets(self):
        """Nothing sent, or nothing that comes back, is a failure of ours, not of pristine."""
        passed, output = self.measure(ours=(0, 0))
        self.assertFalse(passed)
        self.assertIn("round 1: no packets flow", output)
        passed, output = self.measure(ours=(0, 7))
        self.assertFalse(passed)
        self.assertIn("round 1: packets do not come back", output)
        passed, output = self.measure(ours=(7, 7), pristine=(0, 7))
        self.assertTrue(passed)
        self.assertIn("pristine  round 1: packets do not come back", output)
        self.assertNotIn("ratio", output)

    def test_guest_fails(self):
        """The guest says why."""
        for said, cause in (("Cause: no such thing\nEAL: and so on", "no such thing"),
                            ("EAL: so far\nkilled", "killed")):
            os.environ["SAYS"] = f"{said}\nguest: testpmd ended with status 1"
            passed, output = self.measure(ours=(7, 7))
            self.assertFalse(passed)
            self.assertIn(f"the guest's testpmd ended with status 1: {cause}\n", output)
        os.environ.update(SAYS="", ENDS="1")
        passed, output = self.measure(ours=(7, 7))
        self.assertFalse(passed)
        self.assertIn("the guest starts: qemu-system-x86_64 ended early", output)

    def test_other_cpu(self):
        """A testpmd for another CPU than QEMU's is no failure: nothing was tried."""
        for says in ("guest: testpmd ended with status 132",
                     'This system does not support "AVX512F"\nguest: testpmd ended with status 1'):
            os.environ["SAYS"] = says
            with self.assertRaisesRegex(viommu_guest.Missing, "cpu_instruction_set=generic"):
                self.measure(ours=(7, 7))

    def test_testpmd_ends(self):
        """So does one that ends on its own."""
        self.script("ends", "#!/bin/sh\nexit 1\n")
        args = argparse.Namespace(seconds=0)
        _, _, problem = viommu_dpdk.run_round(args, pathlib.Path("vmlinuz"), b"",
                                              self.work / "ends", "split", None)
        self.assertRegex(problem, "testpmd makes its socket: .*/ends ended early")


class UsageTest(unittest.TestCase):
    """What is refused, in one line."""

    def refused(self, says, *args):
        """It must say why, and exit by 2."""
        done = subprocess.run([TOOL, *args], check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done)
        self.assertRegex(done.stderr.splitlines()[-1], f"^check-viommu: error: .*{says}")

    def test_refused(self):
        self.refused("required: testpmd")
        self.refused("/nonexistent: not a program", "/nonexistent")
        self.refused("--dpdk: /: not a program", "/bin/true", "--dpdk=/")
        self.refused("0: not a whole number", "/bin/true", "--dpdk=/bin/true", "--rounds=0")
        self.refused("--rounds needs --dpdk", "/bin/true", "--rounds=2")
        self.refused("--seconds needs --dpdk", "/bin/true", "--seconds=2")
        self.refused("--pings does not go with --dpdk", "/bin/true", "--dpdk=/bin/true",
                     "--pings=2")
        self.refused("--full does not go with --dpdk", "/bin/true", "--dpdk=/bin/true", "--full")
        self.refused("--kernel: /nonexistent: no boot/vmlinuz", "/bin/true",
                     "--kernel=/nonexistent")
        self.refused("invalid choice: 'round'", "/bin/true", "--ring=round")


if __name__ == "__main__":
    unittest.main(buffer=True)
