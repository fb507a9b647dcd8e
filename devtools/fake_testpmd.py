#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""
Answers like dpdk-testpmd, for the tests of usertools/dpdk-vhost-loop.py, and fails as told.

usage: fake_testpmd.py BEHAVIOUR RATE ARGUMENTS-OF-TESTPMD...
BEHAVIOUR is [ROLE:]NAME: ok, idle, modes, uneven, lossy, die-at-start, die-in-run, hang, garbage,
never-connect, lose-bytes, verify, verify-corrupt, verify-stuck, verify-blind.
ROLE (vhost, virtio) limits it to one side. RATE is in packets per second.
"""

import pathlib
import re
import sys
import time

BURST = 32
NO_COMMAND = "Command not found"


class Fake:
    """One side, its counters and its settings."""

    def __init__(self, role, behaviour, rate, socket):
        self.role, self.behaviour, self.rate = role, behaviour, rate
        self.size_file = pathlib.Path(f"{socket}.size")  # what the other side sends
        self.peer_file = pathlib.Path(f"{socket}.fwd")  # what vhost forwards with
        self.start = time.monotonic()
        self.quit_file = pathlib.Path(f"{socket}.{role}.quit")  # that it ended by itself
        self.size, self.burst, self.keep, self.mode = 64, BURST, False, "auto"
        self.engine = "io"
        self.sent = []  # (size, packets) that go round
        self.commands = 0

    def mean(self):
        """Return the mean size of what is received."""
        if self.sent:
            return sum(size * count for size, count in self.sent) / sum(c for _, c in self.sent)
        return int(self.size_file.read_text()) if self.size_file.exists() else self.size

    def stats(self):
        """Return counters that grow with time."""
        packets = int((time.monotonic() - self.start) * self.rate)
        if self.behaviour == "idle":
            packets = 9
        if self.behaviour == "verify-stuck" and self.engine == "verify":
            packets = min(packets, 5)
        count = int(packets * self.mean()) // (2 if self.behaviour == "lose-bytes" else 1)
        return (f"\n  ######## NIC statistics for port 0  ########\n"
                f"  RX-packets: {packets}  RX-missed: 0  RX-bytes:  {count}\n"
                f"  TX-packets: {packets}  TX-errors: 0  TX-bytes:  {count}\n")

    def set(self, words):
        """Answer a command that sets something."""
        if words[0] == "txpkts":
            self.size = int(words[1])
            self.size_file.write_text(words[1])
        elif words[0] == "burst":
            self.burst = int(words[1])
        elif words[0] == "flush_rx":
            self.keep = words[1] == "off"
        elif words[0] == "fwd":
            return self.set_engine(words[1])
        elif words[0] == "port":
            if self.behaviour != "modes":
                return NO_COMMAND
            self.mode = words[-1]
        return ""

    def set_engine(self, engine):
        """Answer a command that sets what forwards."""
        if engine == "verify" and not self.behaviour.startswith("verify"):
            return "Bad arguments"
        if self.role == "vhost":
            self.peer_file.write_text(engine)
        self.engine = engine
        return f"Set {engine} packet forwarding mode"

    def verified(self):
        """Return what the check of packets finds: right, lost, reordered, corrupted."""
        peer = self.peer_file.read_text()
        if peer == "macswap":
            return 0, 0, 0, 0 if self.behaviour == "verify-blind" else 900
        if peer == "rxonly":
            return 0, 64, 0, 0
        return {"verify-corrupt": (1000, 0, 0, 3),
                "verify-stuck": (5, 64, 0, 0)}.get(self.behaviour, (1000, 0, 0, 0))

    def answer(self, line):
        """Return what a command prints."""
        self.commands += 1
        words = line.split()
        if self.behaviour == "hang" and self.commands > 2:
            time.sleep(3600)
        if self.behaviour == "die-in-run" and line.startswith("show port stats"):
            print("PANIC: out of luck", flush=True)
            sys.exit(7)
        if self.behaviour == "garbage":
            return "RX-packets: many RX-bytes: more \x00\xff"
        if words[0] == "quit":
            self.quit_file.touch()
            sys.exit(0)
        if words[0] == "set":
            return self.set(words[1:])
        if words[0] == "start":
            self.sent = self.sent if self.keep else []
            if words[1:2] == ["tx_first"]:
                self.sent.append((self.size, int(words[2]) * self.burst))
        if line == "show port 0 vhost copy" and self.behaviour == "modes":
            return f"vhost copy of port 0: mode {self.mode}, core type unknown"
        if line == "show port stats all":
            return self.stats()
        if line == "show fwd stats all":
            lost = int((time.monotonic() - self.start) * self.rate / 10)
            lost = lost if self.behaviour == "lossy" else 0
            return "\n".join([f"RX-total: 9  TX-dropped: {lost}  TX-total: 9"] * 2)
        if line == "stop" and self.engine == "verify":
            counts = self.verified()
            return ("verify: port 0: %d sent, %d right, %d lost, %d reordered, %d corrupted"
                    % (sum(counts), *counts))
        return "" if words[0] in ("start", "stop") else NO_COMMAND


def speed_up(socket, role):
    """Return how much faster a process is than others: each other one is."""
    starts = pathlib.Path(socket).parent / f"{role}.starts"
    count = len(starts.read_text()) if starts.exists() else 0
    starts.write_text("." * (count + 1))
    return 1 + 2 * (count % 2)


def main():
    behaviour, rate, *args = sys.argv[1:]
    vdev = next(arg for arg in args if arg.startswith("--vdev="))
    role = "vhost" if "net_vhost" in vdev else "virtio"
    only, _, name = behaviour.rpartition(":")
    behaviour = name if only in ("", role) else "ok"
    if behaviour == "die-at-start":
        print("EAL: Cannot init memory", flush=True)
        sys.exit(5)
    if role == "virtio":
        print("waiting for client connection...", flush=True)
    elif behaviour != "never-connect":
        print("VHOST_CONFIG: virtio is now ready for processing.", flush=True)
    socket = re.search(r"(?:path|iface)=([^,]+)", vdev).group(1)
    rate = float(rate) * (speed_up(socket, role) if behaviour == "uneven" else 1)
    fake = Fake(role, behaviour, rate, socket)
    print("testpmd> ", end="", flush=True)
    for line in sys.stdin:
        print(fake.answer(line.strip()), end="\ntestpmd> ", flush=True)


if __name__ == "__main__":
    main()
