# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors

"""Packets per second of DPDK in a guest behind a virtual IOMMU, for devtools/check-viommu."""

import pathlib
import re
import statistics
import subprocess
import time

from viommu_guest import (BOOT_TIMEOUT_S, Failed, Missing, make_initrd, qemu_argv, read, running_pair,
                          work_directory)

MODULES = ("irqbypass", "vfio_virqfd", "vfio", "vfio_iommu_type1", "vfio-pci-core",
           "vfio-pci")  # in the order to load
MEMORY_MB = 1024
HUGE_PAGES = 192  # of 2 MiB
BURSTS = 8  # of 32 packets that go round: a ring holds them all
SETTLE_S = 1
END_TIMEOUT_S = 20
SHOW = "show port stats 0"

# Without virtio_net nothing else wants the device. Two threads share the guest's only CPU:
# the one that does not forward sleeps for as long as its input does not end.
COMMANDS = """
echo 1af4 1041 > /sys/bus/pci/drivers/vfio-pci/new_id
export LD_LIBRARY_PATH=/lib
mkdir -p /var/run
mkfifo input
sleep 86400 > input &
testpmd --lcores 0@0,1@0 -m 256 --in-memory -- --total-num-mbufs=8192 < input
echo "guest: testpmd ended with status $?"
"""


def libraries(program):
    """The shared libraries of a program as files of a guest, its loader where it looks for it."""
    lines = subprocess.run(["ldd", str(program)], check=False, capture_output=True,
                           text=True).stdout
    lost = re.search(r"(\S+) => not found", lines)
    if lost:
        raise Missing(f"no {lost[1]}, which {program} needs")
    files = {f"lib/{name}": path for name, path in re.findall(r"(\S+) => (/\S+) \(", lines)}
    files.update((path.lstrip("/"), path) for path in re.findall(r"^\s+(/\S+) \(", lines, re.M))
    return {name: pathlib.Path(path).read_bytes() for name, path in files.items()}


def make_dpdk_initrd(kernel, testpmd):
    """The root of a guest that forwards with testpmd."""
    return make_initrd(kernel, MODULES, COMMANDS,
                       {"bin/testpmd": testpmd.read_bytes(), **libraries(testpmd)})


def why_ended(serial):
    """Why the guest's testpmd ended, from what the guest said; empty if it did not."""
    status = re.search(r"guest: testpmd ended with status (\d+)", serial)
    if not status:
        return ""
    if status[1] == "132" or "does not support" in serial:
        raise Missing("QEMU's CPU lacks what the guest's testpmd is compiled for: "
                      "build it with -Dcpu_instruction_set=generic")
    cause = re.findall(r"Cause: (.*)", serial) or serial[:status.start()].split("\n")[-2:-1]
    return ": ".join([f"the guest's testpmd ended with status {status[1]}", *cause[-1:]]).strip()


def wait_for_guest(pair):
    """Wait until the guest forwards."""
    def ready():
        ended = why_ended(pair.serial())
        if ended:
            raise Failed(ended)
        return "Press enter to exit" in pair.serial()
    pair.wait_for("the guest starts", ready, BOOT_TIMEOUT_S)


def measure(pair, seconds):
    """Let packets go round; have testpmd count them for so long, and end it."""
    wait_for_guest(pair)
    # Where translations are still asked for, packets get lost: the second start has all.
    for command in ("start", "stop\nstart"):
        pair.command(f"{command} tx_first {BURSTS}")
        time.sleep(SETTLE_S)
    pair.command(SHOW)
    time.sleep(seconds)
    pair.command(SHOW, "quit")
    try:
        pair.vhost.wait(END_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        raise Failed(f"testpmd does not end within {END_TIMEOUT_S} s") from None


def rates(log):
    """Packets per second to and from the guest between the commands, by testpmd's own clock."""
    shown = re.findall(r"Rx-pps:\s*(\d+).*\n\s*Tx-pps:\s*(\d+)", log)
    if len(shown) != 2:
        raise Failed("testpmd shows no counters")
    from_guest, to_guest = map(int, shown[1])
    if to_guest == 0:
        raise Failed("no packets flow")
    if from_guest == 0:
        raise Failed("packets do not come back")
    return to_guest, from_guest


def run_round(args, image, initrd, testpmd, ring, keep):
    """One window; return both rates or None, the number of messages, and what went wrong."""
    with work_directory(keep) as work:
        (work / "initrd").write_bytes(initrd)
        both, problem = None, ""
        try:
            with running_pair(work, testpmd, "io",
                              qemu_argv(image, work, ring, MEMORY_MB,
                                        f"hugepages={HUGE_PAGES}")) as pair:
                measure(pair, args.seconds)
                both = rates(pair.testpmd_log())
        except Failed as error:
            problem = str(error)
        messages = read(work / "testpmd.log").count("VHOST_USER_IOTLB_MSG")
    return both, messages, problem


def run_rounds(args, image, initrd, builds, ring):
    """Take turns; print the medians of each build. Return the rates by build, and if ours ran."""
    results = {name: [] for name, _ in builds}
    passed = True
    for number in range(args.rounds):
        # Each is the first as often as the other.
        for name, testpmd in builds[::-1] if number % 2 else builds:
            keep = args.keep and args.keep / f"dpdk-{ring}-{name}-{number}"
            result = run_round(args, image, initrd, testpmd, ring, keep)
            if result[0] is None:
                print(f"{ring:<7} {name:<9} round {number + 1}: {result[2]}", flush=True)
                passed = passed and name != "ours"
            results[name].append(result)
    for name, rounds in results.items():
        both = [result[0] for result in rounds if result[0]]
        if both:
            to_guest, from_guest = (statistics.median(rate) / 1e6 for rate in zip(*both))
            messages = statistics.median(result[1] for result in rounds)
            print(f"{ring:<7} {name:<9} {to_guest:>9.3f} {from_guest:>11.3f} {messages:>9.0f}",
                  flush=True)
    return results, passed


def print_ratio(ring, results):
    """Compare what came back from the guest, in pairs of rounds next to each other."""
    ratios = sorted(ours[0][1] / pristine[0][1]
                    for ours, pristine in zip(results["ours"], results["pristine"])
                    if ours[0] and pristine[0])
    if ratios:
        print(f"{ring:<7} ratio     {'':>9} {statistics.median(ratios):>11.3f} "
              f"{'':>9} median of {len(ratios)} pairs, {ratios[0]:.3f} to {ratios[-1]:.3f}",
              flush=True)


def run_cases(args, kernel, image, builds):
    """Measure both builds with each kind of ring; return whether packets went round with ours."""
    initrd = make_dpdk_initrd(kernel, args.dpdk)
    print(f"{image.name}, DPDK in the guest, packets of 64 bytes, rounds of {args.seconds} s, Mpps\n"
          f"{'ring':<7} {'build':<9} {'to guest':>9} {'from guest':>11} {'messages':>9}")
    passed = True
    for ring in args.rings:
        results, ours_passed = run_rounds(args, image, initrd, builds, ring)
        passed = passed and ours_passed
        if len(builds) > 1:
            print_ratio(ring, results)
    return passed
