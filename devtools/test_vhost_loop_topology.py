#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Tests of which CPUs dpdk-vhost-loop.py finds and chooses, with made-up machines."""

import pathlib
import platform
import tempfile
import unittest

import vhost_loop_case  # for the path
from vhost_loop import LoopError, topology


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


if __name__ == "__main__":
    unittest.main()
