# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors

"""Packets per second of DPDK in a guest behind a virtual IOMMU, for devtools/check-viommu."""

import pathlib
import re
import statistics
import subprocess
import time

from viommu_guest import (BOOT_TIMEOUT_S, Failed, Missing, make_initrd, qemu_argv, running_pair,
                          work_directory)

MODULES = ("irqbypass", "vfio_virqfd", "vfio", "vfio_iommu_type1", "vfio-pci-core",
           "vfio-pci")  # in the order to load
MEMORY_MB = 1024
HUGE_PAGES = 192  # of 2 MiB
BURSTS = 4  # that go round: few enough for a ring to hold them all
SETTLE_S = 1
ANSWER_TIMEOUT_S = 20

# Without virtio_net nothing else wants the device. Two threads share the guest's only CPU:
# the one that does not forward sleeps for as long as its input does not end.
COMMANDS = """
echo 1af4 1041 > /sys/bus/pci/drivers/vfio-pci/new_id
export LD_LIBRARY_PATH=/lib
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
    said = serial[:status.start()].strip().splitlines()[-1:]
    return ": ".join([f"the guest's testpmd ended with status {status[1]}", *said])


def wait_for_guest(pair):
    """Wait until the guest forwards."""
    def ready():
        ended = why_ended(pair.serial())
        if ended:
            raise Failed(ended)
        return "Press enter to exit" in pair.serial()
    pair.wait_for("the guest starts", ready, BOOT_TIMEOUT_S)


def rates(pair):
    """Packets per second to and from the guest since the last time, by testpmd's own clock."""
    pattern = r"Rx-pps:\s*(\d+).*\n\s*Tx-pps:\s*(\d+)"
    before = len(re.findall(pattern, pair.testpmd_log()))
    pair.command("show port stats 0")
    pair.wait_for("testpmd's counters",
                  lambda: len(re.findall(pattern, pair.testpmd_log())) > before, ANSWER_TIMEOUT_S)
    from_guest, to_guest = re.findall(pattern, pair.testpmd_log())[-1]
    return int(to_guest), int(from_guest)


def measure(pair, seconds):
    """Let packets go round; return how many per second went to the guest, and came from it."""
    wait_for_guest(pair)
    # Where translations are still asked for, packets get lost: the second start has all.
    for command in ("start", "stop\nstart"):
        pair.command(f"{command} tx_first {BURSTS}")
        time.sleep(SETTLE_S)
    rates(pair)
    time.sleep(seconds)
    to_guest, from_guest = rates(pair)
    pair.command("quit")
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
                both = measure(pair, args.seconds)
        except Failed as error:
            problem = str(error)
        messages = (work / "testpmd.log").read_text(errors="replace").count("VHOST_USER_IOTLB_MSG")
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
