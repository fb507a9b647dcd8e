#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Tests of usertools/dpdk-vhost-loop.py, with made-up machines and a fake testpmd."""

import contextlib
import json
import os
import pathlib
import platform
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
TOOL = ROOT / "usertools" / "dpdk-vhost-loop.py"
FAKE = ROOT / "devtools" / "fake_testpmd.py"
REFERENCE = ROOT / "doc" / "guides" / "tools" / "vhost_loop.rst"
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

# pylint: disable=wrong-import-position
from vhost_loop import LoopError, TimeOver, report, stats, testpmd, topology  # noqa: E402


class Tree:
    """A made-up sysfs."""

    def __init__(self, root, count):
        self.root, self.count = pathlib.Path(root), count
        self.write("sys/devices/system/cpu/online", f"0-{count - 1}")
        for number in range(count):
            self.cpu(number, "topology/thread_siblings_list", str(number))
            self.cpu(number, "topology/physical_package_id", "0")
            self.cpu(number, "cache/index3/size", "30720K")

    def write(self, path, text):
        """Write a file."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text + "\n")

    def cpu(self, number, path, text):
        """Write a file of a CPU."""
        self.write(f"sys/devices/system/cpu/cpu{number}/{path}", text)

    def threads(self, *groups):
        """Say which CPUs share a core."""
        for group in groups:
            for number in group:
                self.cpu(number, "topology/thread_siblings_list", ",".join(map(str, group)))

    def machine(self, allowed=None):
        """Return what the tool makes of it."""
        return topology.Machine(self.root, range(self.count) if allowed is None else allowed)


class TreeTest(unittest.TestCase):
    """A test with a directory for a made-up machine."""

    def tree(self, count):
        """Return a machine of so many CPUs."""
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        return Tree(directory.name, count)


class TopologyTest(TreeTest):
    """Which cores are found, and which are chosen."""

    def raptor_lake(self):
        """Return 8 P-cores of two threads, and 16 E-cores."""
        tree = self.tree(32)
        tree.threads(*[(number, number + 1) for number in range(0, 16, 2)])
        tree.write("sys/devices/cpu_core/cpus", "0-15")
        tree.write("sys/devices/cpu_atom/cpus", "16-31")
        return tree

    def test_cpu_list(self):
        """Linux's way to write sets."""
        self.assertEqual(topology.cpu_list("0-2,8,10-11\n"), {0, 1, 2, 8, 10, 11})
        self.assertEqual(topology.cpu_list("\n"), set())

    def test_raptor_lake(self):
        """Never two threads of a core, nor the main lcores beside them."""
        machine = self.raptor_lake().machine()
        self.assertEqual(machine.kinds(), ["P", "E"])
        self.assertEqual(machine.place("P").forward, (2, 4))
        self.assertEqual(machine.place("E").forward, (16, 17))
        self.assertFalse(set(machine.place("P").main) & {2, 3, 4, 5})

    def test_affinity(self):
        """What the process may not use is not there."""
        machine = self.raptor_lake().machine({4, 5, 6, 20})
        self.assertEqual(machine.kinds(), ["P"])
        self.assertEqual(machine.place("P").forward, (4, 6))
        self.assertEqual(machine.place("P").main, (20, 20))
        with self.assertRaisesRegex(LoopError, "may not use two cores of kind E"):
            machine.place("E")

    def test_only_threads_of_one_core(self):
        """Two CPUs that are one core make no pair."""
        with self.assertRaisesRegex(LoopError, "two cores"):
            self.raptor_lake().machine({4, 5}).place("P")
        for allowed, text in (({4, 5}, "its CPUs are 4\\+5 \\(P\\)$"),
                              ({4, 20}, "its CPUs are 4 \\(P\\), 20 \\(E\\)$")):
            machine = self.raptor_lake().machine(allowed)
            self.assertEqual(machine.kinds(), [])
            with self.assertRaisesRegex(LoopError, text):
                machine.place()

    def test_meteor_lake(self):
        """The E-cores beyond the L3 are a kind of their own."""
        tree = self.tree(22)
        tree.threads(*[(number, number + 1) for number in range(0, 12, 2)])
        tree.write("sys/devices/cpu_core/cpus", "0-11")
        tree.write("sys/devices/cpu_atom/cpus", "12-21")
        for number in (20, 21):
            place = tree.root / f"sys/devices/system/cpu/cpu{number}/cache/index3"
            (place / "size").unlink()
            place.rmdir()
        machine = tree.machine()
        self.assertEqual(machine.kinds(), ["P", "E", "LP-E"])
        self.assertEqual(machine.place("LP-E").forward, (20, 21))

    def test_big_little(self):
        """Capacities of Arm."""
        tree = self.tree(8)
        for number in range(8):
            tree.cpu(number, "cpu_capacity", "1024" if number > 3 else "446")
        machine = tree.machine()
        self.assertEqual(machine.kinds(), ["big", "little"])
        self.assertEqual(machine.place("big").forward, (4, 5))

    def test_midr(self):
        """Arm without capacities: the models differ."""
        tree = self.tree(4)
        for number in range(4):
            midr = "0x00000000410fd4d0" if number > 1 else "0x00000000412fd050"
            tree.cpu(number, "regs/identification/midr_el1", midr)
        self.assertEqual(tree.machine().kinds(), ["part-0xd05", "part-0xd4d"])

    def xeon(self):
        """Return two sockets, CPUs numbered in turn between them."""
        tree = self.tree(8)
        for number in range(8):
            tree.cpu(number, "topology/physical_package_id", str(number % 2))
        tree.write("sys/devices/system/node/node0/cpulist", "0,2,4,6")
        tree.write("sys/devices/system/node/node1/cpulist", "1,3,5,7")
        return tree

    def test_two_sockets(self):
        """Both sides and their main lcores stay on one NUMA node."""
        machine = self.xeon().machine()
        where = machine.place(machine.kinds()[0])
        self.assertEqual(len({number % 2 for number in where.forward + where.main}), 1, where)
        self.assertNotIn(0, where.forward)

    def test_isolated(self):
        """Isolated CPUs forward."""
        tree = self.xeon()
        tree.write("sys/devices/system/cpu/isolated", "4,6")
        self.assertEqual(tree.machine().place("all").forward, (4, 6))

    def test_isolated_but_not_allowed(self):
        """As Linux starts processes where CPUs are isolated: it is said how to get them."""
        tree = self.xeon()
        tree.write("sys/devices/system/cpu/isolated", "4,6")
        machine = tree.machine({0, 1, 2, 3, 5, 7})
        where = machine.place("all")
        self.assertFalse({4, 6} & set(where.forward + where.main))
        self.assertIn("CPUs 4,6 are isolated and not used: taskset -c 0,1,2,3,4,5,6,7 lets it",
                      machine.warnings(where, 0))
        with self.assertRaisesRegex(LoopError, "start it by taskset -c 0,1,2,3,4,5,6,7"):
            machine.place(chosen=[4, 6])
        self.assertEqual(tree.machine().warnings(tree.machine().place("all"), 0), [])

    def test_offline(self):
        """CPUs without files of their own are not there; the others keep their numbers."""
        tree = self.raptor_lake()
        tree.write("sys/devices/system/cpu/online", "0,3-4,7,20-31")
        for number in (0, 3, 4, 7):
            tree.cpu(number, "topology/thread_siblings_list", str(number))
        machine = tree.machine()
        self.assertEqual(machine.place("P").forward, (3, 4))
        with self.assertRaisesRegex(LoopError, "CPU 16: not one"):
            machine.place(chosen=[16, 20])

    def test_each_kind_has_its_own_facts(self):
        """Governors and frequencies are not the same on all cores."""
        tree = self.raptor_lake()
        for number in range(32):
            p_core = number < 16
            tree.cpu(number, "cpufreq/cpuinfo_max_freq", "5800000" if p_core else "4300000")
            tree.cpu(number, "cpufreq/scaling_governor", "performance" if p_core else "powersave")
        tree.cpu(17, "cpufreq/scaling_governor", "performance")
        machine = tree.machine()
        self.assertEqual(machine.facts(machine.place("P").forward)["max_frequency"], "5.80 GHz")
        self.assertEqual(machine.warnings(machine.place("P"), 0), [])
        facts = machine.facts(machine.place("E").forward)
        self.assertEqual(facts["max_frequency"], "4.30 GHz")
        self.assertEqual(facts["governor"], "powersave and performance")
        self.assertIn("E cores, governor powersave", machine.warnings(machine.place("E"), 0)[0])

    def test_main_lcores_of_another_node(self):
        """Memory is taken where the main lcore is."""
        machine = self.xeon().machine({1, 3, 2, 4})
        where = machine.place(chosen=[2, 4])
        self.assertEqual(set(where.main), {1, 3})
        self.assertIn("main lcores are of another NUMA node", machine.warnings(where, 0)[0])

    def test_nodes_apart_are_told(self):
        """CPUs that the user chose on two nodes are a reason to warn."""
        machine = self.xeon().machine()
        lines = machine.warnings(machine.place(chosen=[0, 1]), 0)
        self.assertIn("the two CPUs are of different NUMA nodes", lines)

    def test_two_cpus(self):
        """A small virtual machine: the main lcores share the CPUs, and it is said."""
        tree = self.tree(2)
        tree.write("proc/cpuinfo", "model name\t: AMD EPYC\nflags\t\t: fpu hypervisor lahf_lm")
        machine = tree.machine()
        where = machine.place("all")
        self.assertEqual((where.forward, where.main), ((0, 1), (1, 0)))
        self.assertEqual(machine.facts([0])["kinds"], "one kind of core")
        text = " ".join(machine.warnings(where, 2.0))
        for part in ("virtual machine", "main lcores", "2.00"):
            self.assertIn(part, text)

    def hypervisor(self, files):
        """Return the hypervisor of a machine with these files."""
        tree = self.tree(2)
        for path, text in files.items():
            tree.write(path, text)
        machine = tree.machine()
        told = "a virtual machine" in " ".join(machine.warnings(machine.place("all"), 0))
        self.assertEqual(told, machine.hypervisor() is not None)
        return machine.hypervisor()

    def test_hypervisor_of_x86(self):
        """The CPU tells whether there is one; others tell its name."""
        virtual = {"proc/cpuinfo": "flags\t\t: fpu hypervisor lahf_lm"}
        real = {"proc/cpuinfo": "flags\t\t: fpu lahf_lm\nbugs\t: hypervisor"}
        xen, qemu = {"sys/hypervisor/type": "xen"}, {"sys/class/dmi/id/sys_vendor": "QEMU"}
        for files, name in ((virtual, "yes"), (real, None), ({**virtual, **xen}, "xen"),
                            ({**virtual, **qemu}, "qemu"), ({**real, **qemu}, None), ({}, None)):
            self.assertEqual(self.hypervisor(files), name, files)

    def test_hypervisor_of_arm_and_power(self):
        """Their CPUs say nothing: sysfs, the device tree, or the names of the machine do."""
        cpu = {"proc/cpuinfo": "processor\t: 0\nFeatures\t: fp asimd sve"}
        tree, dmi = "proc/device-tree/", "sys/class/dmi/id/"
        for files, name in (
                ({}, None),
                ({"sys/hypervisor/type": "xen"}, "xen"),
                ({tree + "hypervisor/compatible": "xen,xen-4.17\0xen,xen\0"}, "xen-4.17"),
                ({tree + "hypervisor/compatible": "linux,kvm\0"}, "kvm"),
                ({tree + "fw-cfg@9020000/compatible": "qemu,fw-cfg-mmio\0"}, "qemu"),
                ({tree + "ibm,partition-name": "lpar-7\0"}, "powervm"),
                ({tree + "ibm,partition-name": "guest\0",
                  tree + "hypervisor/compatible": "linux,kvm\0"}, "kvm"),
                ({tree + "compatible": "ibm,powernv\0"}, None),
                ({dmi + "product_name": "KVM Virtual Machine", dmi + "sys_vendor": "QEMU"}, "kvm"),
                ({dmi + "product_name": "m7g.large", dmi + "sys_vendor": "Amazon EC2"}, "amazon"),
                ({dmi + "product_name": "m7g.metal", dmi + "sys_vendor": "Amazon EC2"}, None),
                ({dmi + "product_name": "m8g.metal-24xl", dmi + "sys_vendor": "Amazon EC2"}, None),
                ({dmi + "product_name": "Virtual Machine",
                  dmi + "sys_vendor": "Microsoft Corporation"}, "microsoft"),
                ({dmi + "product_name": "Surface", dmi + "sys_vendor": "Microsoft Corporation"},
                 None),
                ({dmi + "product_name": "R272-P30", dmi + "sys_vendor": "GIGABYTE"}, None)):
            self.assertEqual(self.hypervisor({**cpu, **files}), name, files)

    def test_one_cpu(self):
        """There is no loop on one CPU."""
        with self.assertRaisesRegex(LoopError, "two CPUs are needed"):
            self.tree(2).machine({1}).place("all")

    def test_chosen(self):
        """What the user chooses is checked."""
        machine = self.raptor_lake().machine(range(8))
        for chosen, why in (([0, 1], "threads of one core"), ([0, 9], "CPU 9: not one")):
            with self.assertRaisesRegex(LoopError, why):
                machine.place(chosen=chosen)
        self.assertEqual(machine.place(chosen=[6, 2]).forward, (6, 2))

    def test_steal(self):
        """The eighth number of a CPU's line, of the CPUs that forward only."""
        tree = self.tree(2)
        tree.write("proc/stat", "cpu  9 9 9 9 9 9 9 99 0 0\ncpu0 1 0 1 1 0 0 0 5 0 0\n"
                   "cpu1 1 0 1 1 0 0 0 7 0 0")
        self.assertEqual(topology.steal_ticks([1], tree.root), 7)
        self.assertEqual(topology.steal_ticks([0, 1], tree.root), 12)

    def test_quota(self):
        """Of the control group, and of those that it is in."""
        tree = self.tree(2)
        self.assertEqual(tree.machine().cpu_limit(), float("inf"))
        tree.write("proc/self/cgroup", "1:cpu:/old\n0::/box/inner")
        tree.write("sys/fs/cgroup/box/inner/cpu.max", "max 100000")
        tree.write("sys/fs/cgroup/box/cpu.max", "150000 100000")
        machine = tree.machine()
        self.assertEqual(machine.cpu_limit(), 1.5)
        self.assertIn("limits this process to 1.50 CPUs",
                      " ".join(machine.warnings(machine.place("all"), 0)))
        tree.write("proc/self/cgroup", "0::/../elsewhere")
        self.assertEqual(tree.machine().cpu_limit(), float("inf"))

    def test_huge_pages(self):
        """Those of the node that has fewest count, as far as nobody has reserved them."""
        tree = self.xeon()
        self.assertEqual(tree.machine().free_huge_pages({0}), (0, 0))
        tree.write("proc/meminfo", "HugePages_Total:  600\nHugePages_Free:  600\n"
                   "HugePages_Rsvd:  90\nHugepagesize:  2048 kB")
        self.assertEqual(tree.machine().free_huge_pages({0, 1}), (510, 2))
        for node, count in ((0, "200"), (1, "400")):
            tree.write(f"sys/devices/system/node/node{node}/hugepages/hugepages-2048kB/"
                       "free_hugepages", count)
        self.assertEqual(tree.machine().free_huge_pages({0, 1}), (200, 2))
        self.assertEqual(tree.machine().free_huge_pages({1}), (400, 2))

    def test_cpu_names(self):
        """Family and model tell generations apart that have the same name."""
        cpuinfo = "cpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\nstepping\t: 1\n"
        self.assertEqual(topology.cpu_model(cpuinfo), "AMD EPYC (family 26, model 2)")
        self.assertEqual(topology.cpu_model("processor\t: 0\n"), platform.machine())
        cpuinfo = "processor\t: 0\nCPU implementer\t: 0x41\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n"
        self.assertEqual(topology.cpu_model(cpuinfo),
                         platform.machine() + " (implementer 0x41, part 0xd0c)")
        self.assertEqual(topology.cpu_model("processor\t: 0\ncpu\t\t: POWER9 (architected)\n"),
                         "POWER9 (architected)")


class StatsTest(unittest.TestCase):
    """What may be said."""

    def test_clear_difference(self):
        """All pairs on one side."""
        ratio = stats.Ratio([1.04, 1.05, 1.06, 1.05, 1.04, 1.07, 1.05])
        self.assertEqual(ratio.verdict(), "faster")
        self.assertTrue(1.03 < ratio.low <= ratio.median <= ratio.high < 1.08)
        self.assertEqual(stats.Ratio([0.9] * 3 + [0.91] * 4).verdict(), "slower")

    def test_no_winner_whose_interval_spans_one(self):
        """However far the median is from 1."""
        ratio = stats.Ratio([0.8, 0.9, 1.2, 1.3, 1.3, 1.4, 0.7, 1.2])
        self.assertGreater(ratio.median, 1.1)
        self.assertTrue(ratio.low < 1 < ratio.high)
        self.assertEqual(ratio.verdict(), "no difference seen")

    def test_too_few(self):
        """Two pairs say nothing, however equal they are."""
        self.assertEqual(stats.Ratio([1.5, 1.5]).verdict(), "too few pairs")
        self.assertEqual(stats.Ratio([]).verdict(), "too few pairs")

    def test_no_winner_at_what_is_printed_as_one(self):
        """An interval that reads 1.000 - 1.001 holds 1.0 for whoever reads it."""
        self.assertEqual(stats.Ratio([1.0002] * 5 + [1.0009] * 5).verdict(), "no difference seen")
        self.assertEqual(stats.Ratio([0.9998] * 5 + [0.9991] * 5).verdict(), "no difference seen")

    def test_intervals_hold_the_true_value(self):
        """In 95 of 100 cases, with few pairs too."""
        rng = random.Random(2)
        for count in (7, 8):
            spans = [stats.interval([rng.lognormvariate(0, 0.03) for _ in range(count)])
                     for _ in range(300)]
            held = sum(low <= 1 <= high for low, high in spans) / len(spans)
            self.assertGreater(held, 0.93, count)

    def test_many_values_need_no_expansion(self):
        """The usual 2.5 % at each end."""
        self.assertAlmostEqual(stats.tail(10000), 0.025, 4)

    def test_outliers_do_not_move_it(self):
        """One window in another regime of the machine is no news."""
        ratio = stats.Ratio([1.02] * 9 + [2.0])
        self.assertEqual(ratio.median, 1.02)
        self.assertLess(ratio.high, 1.1)


def window(value, dropped=None):
    """Return a window."""
    return testpmd.Window(value, dropped)


def rows_of(values, direction="loop", size=64):
    """Return the rows of {build: windows}, the first one being the baseline."""
    variants = [(build, "") for build in values]
    rounds = [list(zip(variants, windows)) for windows in zip(*values.values())]
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


@unittest.skipIf(len(os.sched_getaffinity(0)) < 2, "needs two CPUs")
class LoopTest(unittest.TestCase):
    """The whole tool, with a fake testpmd."""

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

    def pair(self, behaviour, deadline=float("inf"), **options):
        """Return a pair of a build with a behaviour and options."""
        self.fake("fake", behaviour)
        build = testpmd.Build("fake", self.directory / "fake", self.directory)
        build.options = options
        where = topology.Machine().place(topology.Machine().kinds()[0])
        return testpmd.Pair(build, where, "split", False, str(self.directory), deadline=deadline)

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
