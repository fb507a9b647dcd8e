# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Which CPUs there are, of what kind, and which ones a loop should run on."""

import collections
import os
import pathlib
import platform
import re

from vhost_loop import LoopError

ONE_KIND = "all"
# Names of kinds by descending capacity, for as many kinds as there are.
CAPACITY_NAMES = {2: ("big", "little"), 3: ("big", "mid", "little")}
MIDR_PART = 0xfff0  # bits of the register that tell models of a vendor apart
# How names of machines begin that are virtual, and what runs them. Microsoft makes others too, so
# that it is the product that tells.
HYPERVISORS = {"KVM": "kvm", "QEMU": "qemu", "Amazon EC2": "amazon", "OpenStack": "kvm",
               "Google Compute Engine": "google", "Alibaba Cloud ECS": "kvm", "VMware": "vmware",
               "VMW": "vmware", "VirtualBox": "virtualbox", "Virtual Machine": "microsoft",
               "HVM domU": "xen", "Xen": "xen", "BHYVE": "bhyve", "Parallels": "parallels",
               "Apple Virtualization": "apple"}
ROOT = pathlib.Path("/")

Cpu = collections.namedtuple("Cpu", "number kind node core package isolated")
# Of two testpmd: the CPU of each side's forwarding lcore, and of each main lcore.
Placement = collections.namedtuple("Placement", "kind forward main node")


def cpu_list(text):
    """Turn Linux's way to write CPU numbers ("0-3,8") into a set."""
    numbers = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first:
            numbers.update(range(int(first), int(last or first) + 1))
    return numbers


def read(path, default=""):
    """Return what a file of sysfs or procfs holds, or a default if it is not there."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return default


class Machine:
    """The CPUs below root, a file system as Linux shows it."""

    def __init__(self, root=ROOT, allowed=None):
        self.root = pathlib.Path(root)
        self.devices = self.root / "sys/devices"
        self.system = self.devices / "system/cpu"
        online = cpu_list(read(self.system / "online", "0"))
        self.allowed = sorted(online & set(allowed if allowed is not None
                                           else os.sched_getaffinity(0)))
        isolated = cpu_list(read(self.system / "isolated"))
        # Linux keeps them from processes that do not ask for them.
        self.hidden = sorted(isolated & online - set(self.allowed))
        kinds, nodes = self.find_kinds(online), self.find_nodes()
        self.cpus = {number: Cpu(number, kinds[number], nodes.get(number, 0),
                                 frozenset(self.siblings(number)), self.package(number),
                                 number in isolated) for number in sorted(online)}

    def cpu_file(self, number, name, default=""):
        """Return what a file of one CPU holds."""
        return read(self.system / f"cpu{number}" / name, default)

    def siblings(self, number):
        """Return the CPUs that are threads of the same core."""
        return cpu_list(self.cpu_file(number, "topology/thread_siblings_list")) | {number}

    def package(self, number):
        """Return the socket of a CPU."""
        return int(self.cpu_file(number, "topology/physical_package_id", "0"))

    def find_nodes(self):
        """Return CPU -> NUMA node."""
        return {number: int(node.name[len("node"):])
                for node in sorted(self.devices.glob("system/node/node[0-9]*"))
                for number in cpu_list(read(node / "cpulist"))}

    def find_kinds(self, online):
        """Return CPU -> name of its kind, by the first means that tells any apart."""
        for find in (self.intel_kinds, self.capacity_kinds, self.midr_kinds):
            kinds = find(online)
            if len(set(kinds.values())) > 1:
                return kinds
        return dict.fromkeys(online, ONE_KIND)

    def intel_kinds(self, online):
        """Performance and efficient cores, and those of the latter without a share of the L3."""
        atoms = cpu_list(read(self.devices / "cpu_atom/cpus"))
        if not atoms or not cpu_list(read(self.devices / "cpu_core/cpus")):
            return {}
        far = {number for number in atoms
               if not (self.system / f"cpu{number}/cache/index3").is_dir()}
        if far == atoms:
            far = set()
        return {number: "LP-E" if number in far else "E" if number in atoms else "P"
                for number in online}

    def capacity_kinds(self, online):
        """Kinds by the capacity that the firmware of Arm machines tells."""
        values = {number: int(self.cpu_file(number, "cpu_capacity", "0")) for number in online}
        order = sorted(set(values.values()), reverse=True)
        names = CAPACITY_NAMES.get(len(order), [f"capacity-{value}" for value in order])
        return {number: names[order.index(value)] for number, value in values.items()}

    def midr_kinds(self, online):
        """Kinds by the model that Arm CPUs tell."""
        values = {number: int(self.cpu_file(number, "regs/identification/midr_el1", "0"), 16)
                  for number in online}
        return {number: f"part-{(value & MIDR_PART) >> 4:#x}" for number, value in values.items()}

    def kinds(self):
        """Return the names of the kinds of which this process may use two cores, fastest first."""
        found = {}
        for number in self.allowed:
            cpu = self.cpus[number]
            found.setdefault(cpu.kind, set()).add(min(cpu.core))
        order = ("P", "big", "mid", "E", "little", "LP-E")
        return sorted((kind for kind, cores in found.items() if len(cores) > 1),
                      key=lambda kind: (order.index(kind) if kind in order else len(order), kind))

    def pairs(self, kind):
        """Return pairs of usable CPUs of a kind on different cores, the best first."""
        cpus = [self.cpus[number] for number in self.allowed if self.cpus[number].kind == kind]
        found = [(one, two) for one in cpus for two in cpus
                 if one.number < two.number and not one.core & two.core]
        # The kernel's own work is mostly on CPU 0 and its core.
        return sorted(found, key=lambda pair: (
            pair[0].node != pair[1].node, pair[0].package != pair[1].package,
            -sum(cpu.isolated for cpu in pair), sum(0 in cpu.core for cpu in pair),
            pair[0].number, pair[1].number))

    def place(self, kind=None, chosen=None):
        """Return where to run a loop on cores of a kind, or on two chosen CPUs."""
        if len(self.allowed) < 2:
            raise LoopError("two CPUs are needed, this process may use only one")
        if chosen:
            self.check_chosen(chosen)
            pair = tuple(self.cpus[number] for number in chosen)
        else:
            pairs = self.pairs(kind)
            if not pairs:
                raise LoopError(f"this process may not use two cores of kind {kind}" if kind else
                                "this process may not use two cores of one kind: its CPUs are "
                                + self.describe_allowed())
            pair = pairs[0]
        kinds = " and ".join(sorted({cpu.kind for cpu in pair}))
        return Placement(kinds, tuple(cpu.number for cpu in pair), self.main_cpus(pair),
                         pair[0].node)

    def describe_allowed(self):
        """Return the CPUs that this process may use, threads of one core together, with kinds."""
        cores = {}
        for number in self.allowed:
            cores.setdefault(self.cpus[number].core, []).append(number)
        return ", ".join(f"{'+'.join(map(str, numbers))} ({self.cpus[numbers[0]].kind})"
                         for numbers in cores.values())

    def check_chosen(self, chosen):
        """Refuse CPUs that this process may not use, or that share a core."""
        for number in chosen:
            if number not in self.allowed:
                hint = f", but isolated: start it by taskset -c {self.with_hidden()}"
                raise LoopError(f"CPU {number}: not one that this process may use "
                                f"({','.join(map(str, self.allowed))})"
                                + (hint if number in self.hidden else ""))
        if self.cpus[chosen[0]].core & self.cpus[chosen[1]].core:
            raise LoopError(f"CPUs {chosen[0]} and {chosen[1]} are threads of one core, "
                            "choose two cores")

    def with_hidden(self):
        """Return the CPUs that it may use, and the isolated ones, as taskset takes them."""
        return ",".join(map(str, sorted(self.allowed + self.hidden)))

    def main_cpus(self, pair):
        """Return a CPU for each side's main lcore: of cores that do not forward if there are."""
        busy = pair[0].core | pair[1].core
        free = [number for number in self.allowed if number not in busy]
        free.sort(key=lambda number: (self.cpus[number].node != pair[0].node,
                                      self.cpus[number].isolated, number))
        if not free:  # each one's commands are typed while the other one's CPU is busy as well
            return (pair[1].number, pair[0].number)
        return (free[0], free[min(1, len(free) - 1)])

    def facts(self, numbers):
        """Return {name: text} of what figures of these CPUs depend on."""
        turbo = {"intel_pstate/no_turbo": {"0": "on", "1": "off"},
                 "cpufreq/boost": {"1": "on", "0": "off"}}
        states = [words.get(read(self.system / name)) for name, words in turbo.items()]
        smt = {"1": "on", "0": "off"}.get(read(self.system / "smt/active"), "unknown")
        return {
            "cpu": cpu_model(read(self.root / "proc/cpuinfo")),
            "kinds": ", ".join(self.kinds()) if len(self.kinds()) > 1 else "one kind of core",
            "max_frequency": self.of_all(numbers, "cpufreq/cpuinfo_max_freq",
                                         lambda khz: f"{int(khz) / 1e6:.2f} GHz"),
            "governor": self.of_all(numbers, "cpufreq/scaling_governor", str),
            "turbo": next((state for state in states if state), "unknown"),
            "smt": smt, "hypervisor": self.hypervisor() or "none seen",
            "kernel": read(self.root / "proc/sys/kernel/osrelease", platform.release())}

    def of_all(self, numbers, name, form):
        """Return what a file says of some CPUs, each value once."""
        values = [self.cpu_file(number, name) for number in numbers]
        return " and ".join(dict.fromkeys(form(value) for value in values if value)) or "unknown"

    def has_nodes(self):
        """Tell whether there is more than one NUMA node."""
        return len({cpu.node for cpu in self.cpus.values()}) > 1

    def free_huge_pages(self, nodes):
        """Return the free huge pages of the default size, on the node with fewest; their MB."""
        info = dict(re.findall(r"(\w+): +(\d+)", read(self.root / "proc/meminfo")))
        kb = int(info.get("Hugepagesize", 0))
        free = int(info.get("HugePages_Free", 0)) - int(info.get("HugePages_Rsvd", 0))
        name = f"hugepages/hugepages-{kb}kB/free_hugepages"
        of_nodes = [read(self.devices / f"system/node/node{node}" / name) for node in nodes]
        return min([free] + [int(text) for text in of_nodes if text]), kb // 1024

    def hypervisor(self):
        """Return the name of the hypervisor, or "yes", if this is a virtual machine, else None.

        x86 CPUs tell whether there is one. On others its own interface in sysfs does, or the
        device tree, or what the firmware says of the machine, by which clouds tell whether a
        machine is virtual ("m7g.metal" is not).
        """
        found = (read(self.root / "sys/hypervisor/type") or self.device_tree_hypervisor()
                 or self.firmware_hypervisor())
        flags = re.search(r"^flags\b.*", read(self.root / "proc/cpuinfo"), re.M)
        if flags:
            return (found or "yes") if re.search(r"\bhypervisor\b", flags.group(0)) else None
        return found

    def device_tree_hypervisor(self):
        """Return the hypervisor that the device tree of Arm or POWER tells of, or None."""
        tree = self.root / "proc/device-tree"
        compatible = read(tree / "hypervisor/compatible")
        if compatible:
            return compatible.split("\0")[0].rpartition(",")[2]
        if any(tree.glob("fw-cfg*")):
            return "qemu"
        # A logical partition of POWER; QEMU, which has this too, was recognised above.
        return "powervm" if (tree / "ibm,partition-name").exists() else None

    def firmware_hypervisor(self):
        """Return the hypervisor that vendor and product of the machine are of, or None."""
        dmi = self.root / "sys/class/dmi/id"
        names = [read(dmi / name) for name in ("product_name", "sys_vendor", "board_vendor")]
        if names[0].endswith(".metal") or ".metal-" in names[0]:
            return None
        return next((hypervisor for start, hypervisor in HYPERVISORS.items()
                     for name in names if name.startswith(start)), None)

    def cpu_limit(self):
        """Return how many CPUs the control groups of this process leave it, by their quota."""
        found = re.search(r"^0::/(.*)$", read(self.root / "proc/self/cgroup"), re.M)
        top = self.root / "sys/fs/cgroup"
        group, limit = top / (found.group(1) if found else ""), float("inf")
        while True:
            quota, _, period = read(group / "cpu.max").partition(" ")
            if quota.isdecimal() and period.isdecimal():
                limit = min(limit, int(quota) / int(period))
            if group == top or top not in group.parents:
                return limit
            group = group.parent

    def warnings(self, placement, load):
        """Return lines on what makes figures of this machine doubtful."""
        lines, facts = [], self.facts(placement.forward)
        if facts["governor"] not in ("performance", "unknown"):
            lines.append(f"{placement.kind} cores, governor {facts['governor']}: frequencies "
                         "change while it measures; better is performance")
        if self.hypervisor():
            lines.append("a virtual machine: its neighbours move absolute rates, read the ratios")
        limit = self.cpu_limit()
        if limit < 2:
            lines.append(f"a control group limits this process to {limit:.2f} CPUs, and both "
                         "sides need a whole one all the time")
        if load > 0.5:
            lines.append(f"the load was {load:.2f} at the start: other processes compete")
        if set(placement.main) & set(placement.forward):
            lines.append("no CPU is left for the main lcores: they share those that forward")
        nodes = {self.cpus[number].node for number in placement.forward}
        if len(nodes) > 1:
            lines.append("the two CPUs are of different NUMA nodes")
        elif {self.cpus[number].node for number in placement.main} != nodes:
            lines.append("the main lcores are of another NUMA node than those that forward: "
                         "memory may be there, too")
        if self.hidden:
            lines.append(f"CPUs {','.join(map(str, self.hidden))} are isolated and not used: "
                         f"taskset -c {self.with_hidden()} lets it")
        return lines


def cpu_model(cpuinfo):
    """Return the CPU's name as Linux knows it, with the numbers of its model if it has such.

    In virtual machines the name may be no more than that of the vendor; Arm has numbers only."""
    fields = dict(re.findall(r"^([\w ]+?)\s*: (.*)$", cpuinfo, re.MULTILINE))
    name = fields.get("model name") or fields.get("cpu") or platform.machine()
    for text, names in (("family {}, model {}", ("cpu family", "model")),
                        ("implementer {}, part {}", ("CPU implementer", "CPU part"))):
        if all(number in fields for number in names):
            name += f" ({text.format(*(fields[number] for number in names))})"
    return name


def steal_ticks(numbers, root=ROOT):
    """Return the ticks that the hypervisor took from these CPUs since the machine started."""
    lines = dict(re.findall(r"^cpu(\d+) (.*)$", read(pathlib.Path(root) / "proc/stat"), re.M))
    fields = [lines.get(str(number), "").split() for number in numbers]
    return sum(int(field[7]) for field in fields if len(field) > 7)
