# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Pairs of dpdk-testpmd: start, talk to, measure, and end them, whatever happens."""

import collections
import contextlib
import ctypes
import json
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time

from vhost_loop import LoopError, TimeOver
from vhost_loop.topology import steal_ticks

START_TIMEOUT_S = 30
COMMAND_TIMEOUT_S = 10
SETTLE_S = 0.05  # from the first packets to the start of a window
MBUFS = 16384  # far more than the two rings hold
MEMORY_MB = 128  # for a testpmd with that many mbufs, with some to spare
MAX_BURST = 64
BURST = 32
MAX_STEAL = 0.02  # of a window's CPU time
MAX_WAIT = 0.2  # of its time, that a forwarding thread waits for its CPU
MAX_LOSS = 0.001  # of its packets
SHARED_OPTIONS = ("use_cc_memcpy",)  # of our build and of DPDK as its subproject
PROMPT = rb"testpmd> "
RECEIVED = rb"RX-packets: *(\d+).*?RX-bytes: *(\d+)"
COPY_MODE = rb"vhost copy of port \d+: mode (\w+)"
VERIFIED = (rb"verify: port \d+: (\d+) sent, (\d+) right, (\d+) lost, (\d+) reordered, "
            rb"(\d+) corrupted")
VERIFY_SIZE = 1518  # of the longest packet; the shortest has 24 bytes
VERIFY_POLL_S = 0.2
VERIFY_PATIENCE_S = 3  # with nothing that comes back; a busy machine may halt a process for a while
LOG_TAIL_LINES = 12
PR_SET_PDEATHSIG = 1
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
IMIX = ((64, 7), (570, 4), (1518, 1))  # packets of each size in a mix
IMIX_ROUNDS, IMIX_BURST = 4, 4  # 192 packets: all fit into one ring while one side is stopped
RINGS = {
    "split": "mrg_rxbuf=1,in_order=1",
    "packed": "packed_vq=1,mrg_rxbuf=1,in_order=1",
    "mrg": "mrg_rxbuf=1,in_order=0",
    "in_order": "mrg_rxbuf=0,in_order=1",
    "vectorized": "packed_vq=1,mrg_rxbuf=0,in_order=1,vectorized=1",
}

# What one window measured: dropped says why it does not count, or is None; the rest is what that
# was decided by. begin is of time.monotonic(); steal is in ticks of both CPUs together; wait is
# in seconds, of the side that waited longer.
Window = collections.namedtuple("Window", "value dropped begin seconds packets lost steal wait",
                                defaults=(0, 0, 0, 0, 0, 0))
# What became of the packets that a guest has sent and got back.
Verified = collections.namedtuple("Verified", "sent right lost reordered corrupted")


class Stopped(Exception):
    """A signal that ends this program."""


class Build:
    """A name, its dpdk-testpmd, and how it was built."""

    def __init__(self, name, testpmd, meson_dir):
        self.name = name
        self.testpmd = testpmd
        self.options = {}
        values = meson_options(meson_dir / "meson-info" / "intro-buildoptions.json")
        for name, value in values.items():
            # DPDK as a subproject has "dpdk:" before its own options,
            # and follows ours where there are both.
            own = name.split(":")[-1]
            if own == name or own not in SHARED_OPTIONS or own not in values:
                self.options[own] = value

    def command(self):
        """Return how to run it."""
        if self.options.get("default_library") != "shared":
            return [str(self.testpmd)]
        # Drivers are plugins, looked for where "ninja install" would put them.
        return [str(self.testpmd), "-d", str(self.testpmd.resolve().parent.parent / "drivers")]

    def doubts(self):
        """Return lines on why figures of this build say little of another one."""
        get, why = self.options.get, []
        if get("optimization") in ("0", "g") and get("buildtype") != "plain":
            why.append("no optimisation")
        if get("b_sanitize", "none") not in ("none", []):
            why.append("sanitizers")
        if get("b_coverage"):
            why.append("counts for coverage")
        if get("b_pgo") == "generate":
            why.append("counts for a profile")
        return [f"{self.name} is built with {text}: its rates mean nothing" for text in why]

    def describe(self):
        """Return compiler and build options as one line."""
        names = ("buildtype", "default_library", "cpu_instruction_set", "use_cc_memcpy", "c_args",
                 "b_pgo")
        values = {name: self.options[name] for name in names
                  if self.options.get(name) not in (None, [], "off")}
        return ", ".join([compiler_of(self.testpmd)] +
                         [f"{name}={' '.join(value) if isinstance(value, list) else value}"
                          .replace("True", "true").replace("False", "false")
                          for name, value in values.items()])


def differences(builds):
    """Return lines on options other than the compiler's that builds do not have in common."""
    lines = []
    for name in ("optimization", "default_library", "cpu_instruction_set", "b_lto"):
        values = {str(build.options[name]) for build in builds if name in build.options}
        if len(values) > 1:
            lines.append(f"the builds differ in {name}: {', '.join(sorted(values))}")
    return lines


def meson_options(path):
    """Return {name: value} of what Meson has written, nothing where that is not readable."""
    try:
        return {option["name"]: option["value"] for option in json.loads(path.read_text())}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def compiler_of(testpmd):
    """Return the compiler that the binary names in its .comment section."""
    data = testpmd.read_bytes()
    # a clang build has GCC's name too, from the start-up files of libc
    for name, pattern in (("clang", rb"clang version ([\d.]+)"),
                          ("GCC", rb"GCC: \([^)]*\) ([\d.]+)")):
        found = re.search(pattern, data)
        if found:
            return f"{name} {found.group(1).decode()}"
    return "unknown compiler"


def die_with(parent):
    """Return what makes a new process be killed by the kernel when its parent ends in any way."""
    def ask():
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # which has ended before it was asked
            os._exit(1)
    return ask


class Testpmd:
    """A testpmd process, its command input and what it has printed so far."""

    def __init__(self, role, argv, run_dir):
        self.role = role
        self.asked = "start"
        self.printed = b""
        self.unseen = 0  # where the output starts that no wait has matched yet
        # On a terminal testpmd prints line by line, on a pipe only now and then.
        self.terminal, slave = os.openpty()
        self.process = subprocess.Popen(
            argv, bufsize=0, stdin=subprocess.PIPE, stdout=slave, stderr=slave,
            start_new_session=True, preexec_fn=die_with(os.getpid()),
            env=dict(os.environ, RUNTIME_DIRECTORY=run_dir, LC_ALL="C"))
        os.close(slave)

    def send(self, command):
        """Type one command; what was printed before is no answer to it."""
        self.asked = command
        self.unseen = len(self.printed)
        try:
            self.process.stdin.write(command.encode() + b"\n")
        except BrokenPipeError:
            pass  # the next wait reports the death

    def read(self):
        """Take in what the process has printed; raise LoopError if it has ended."""
        try:
            data = os.read(self.terminal, 65536)
        except OSError:  # EIO: the last process on the terminal is gone
            data = b""
        if not data:
            raise LoopError(f"{self.role} {self.fate()}{self.tail()}")
        self.printed += data

    def fate(self):
        """Say how the process ended."""
        try:
            status = self.process.wait(2)
        except subprocess.TimeoutExpired:
            return "closed its output"
        if status < 0:
            return f"was killed by signal {-status} ({signal.strsignal(-status)})"
        return f"ended with exit status {status}"

    def tail(self):
        """Return the last lines of output, indented."""
        lines = self.printed.decode(errors="replace").replace("\r", "").split("\n")
        lines = [line for line in lines if line.strip()][-LOG_TAIL_LINES:]
        return "".join(f"\n  {self.role}| {line}" for line in lines)

    def quit(self, timeout):
        """Let the process end by itself, for so long."""
        self.send("quit")
        end = time.monotonic() + timeout
        with contextlib.suppress(LoopError):  # what tells that it has ended
            while time.monotonic() < end:
                if select.select([self.terminal], [], [], end - time.monotonic())[0]:
                    self.read()

    def waited(self):
        """Return the seconds that its forwarding threads were ready to run, but did not."""
        total = 0
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").glob("*"):
            with contextlib.suppress(OSError, IndexError):  # a kernel may not tell
                if "worker" in (task / "comm").read_text():
                    total += int((task / "schedstat").read_text().split()[1])
        return total / 1e9

    def kill(self):
        """End the process and all that it started, whatever its state, and wait for that."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        os.close(self.terminal)


class Pair:
    """The two testpmd of a loop: virtio-user listens, vhost connects."""

    number = 0  # of the pairs of this program so far: each has a socket of its own

    def __init__(self, build, placement, ring, huge, run_dir, guest=None, deadline=float("inf")):
        Pair.number += 1
        self.deadline = deadline  # of time.monotonic()
        self.build = build
        self.guest = guest or build  # what virtio-user runs on
        self.placement = placement
        self.ring = ring
        self.run_dir = run_dir
        self.socket = f"{run_dir}/sock{Pair.number}"
        self.sides = []
        # Without huge pages DPDK's memory is a memfd too, so that the peer can map it.
        self.memory = (["--in-memory", "--single-file-segments"] if huge else
                       ["--no-huge", "--no-shconf", "-m", str(MEMORY_MB)])

    def __enter__(self):
        try:
            self.connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        # Memory and sockets are all in-memory or below run_dir: no need to quit nicely,
        # but what an instrumented program has counted is written when it quits.
        for side in reversed(self.sides):
            if self.build.options.get("b_pgo") == "generate":
                side.quit(COMMAND_TIMEOUT_S)
            side.kill()
        if os.path.exists(self.socket):
            os.unlink(self.socket)

    def start(self, role, build, index, vdev):
        """Start one testpmd, whose lcore 0 takes commands and whose lcore 1 forwards."""
        where = self.placement
        argv = build.command() + [
            "--lcores", f"0@{where.main[index]},1@{where.forward[index]}", "--main-lcore=0",
            "--no-pci", *self.memory, f"--vdev={vdev}",
            f"--file-prefix=vhost-loop-{os.getpid()}-{Pair.number}-{role}",
            "--", "-i", f"--total-num-mbufs={MBUFS}"]
        side = Testpmd(role, argv, self.run_dir)
        self.sides.append(side)
        return side

    def connect(self):
        """Start both sides and wait until packets can flow."""
        self.virtio = self.start("virtio-user", self.guest, 0,
                                 f"net_virtio_user0,path={self.socket},server=1,"
                                 + RINGS[self.ring])
        self.wait(self.virtio, rb"waiting for client connection", START_TIMEOUT_S)
        self.vhost = self.start("vhost", self.build, 1,
                                f"net_vhost0,iface={self.socket},client=1")
        self.wait(self.virtio, PROMPT, START_TIMEOUT_S)
        self.wait(self.vhost, PROMPT, START_TIMEOUT_S)
        if b"virtio is now ready" not in self.vhost.printed:
            self.wait(self.vhost, rb"virtio is now ready", START_TIMEOUT_S)

    def pump(self, seconds):
        """Read both sides until one has printed something or the time is over.

        All that takes time comes here, so that a run can end when it has to.
        """
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeOver
        by_fd = {side.terminal: side for side in self.sides}
        for fd in select.select(list(by_fd), [], [], max(0, min(seconds, left)))[0]:
            by_fd[fd].read()

    def sleep(self, seconds):
        """Sleep, and wake up at once if a side dies."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.pump(end - time.monotonic())

    def wait(self, side, pattern, timeout=None):
        """Wait until a side has printed the pattern; return the match."""
        timeout = timeout or COMMAND_TIMEOUT_S
        end = time.monotonic() + timeout
        while True:
            match = re.search(pattern, side.printed[side.unseen:], re.DOTALL)
            if match:
                side.unseen += match.end()
                return match
            if time.monotonic() > end:
                raise LoopError(f"{side.role} gave no answer to {side.asked!r} within "
                                f"{timeout} s{self.tails()}")
            self.pump(end - time.monotonic())

    def tails(self):
        """Return the last output of both sides."""
        return "".join(side.tail() for side in self.sides)

    def command(self, side, text):
        """Run a testpmd command to its end; return what it printed."""
        side.send(text)
        return self.wait(side, rb"(.*?)" + PROMPT).group(1)

    def both(self, text):
        """Run a testpmd command on both sides."""
        for side in self.sides:
            self.command(side, text)

    def copy_mode(self):
        """Return the copy mode of vhost, or None where the build has none to choose from."""
        match = re.search(COPY_MODE, self.command(self.vhost, "show port 0 vhost copy"))
        return match.group(1).decode() if match else None

    def set_copy_mode(self, mode):
        """Choose how vhost copies packets from here on."""
        self.command(self.vhost, f"set port 0 vhost copy {mode}")
        if self.copy_mode() != mode:
            raise LoopError(f"{self.build.name}: its vhost has no copy mode {mode}{self.tails()}")

    def count(self, side):
        """Return packets and bytes that a side has received, and the time in seconds."""
        side.send("show port stats all")
        match = self.wait(side, RECEIVED + rb".*?" + PROMPT)
        return int(match.group(1)), int(match.group(2)), time.monotonic()

    def waited(self):
        """Return for both sides how long they have waited for their CPU."""
        return [side.waited() for side in self.sides]

    def lost(self):
        """Return how many packets the forwarding of both sides has dropped."""
        total = 0
        for side in self.sides:
            total += dropped(self.command(side, "show fwd stats all"))
        return total

    def start_loop(self, size):
        """Let packets of a size, or a mix of sizes, go round."""
        self.both("set fwd io")
        self.command(self.virtio, "start")  # drops what is left in its ring
        if size != "imix":
            self.command(self.vhost, f"set txpkts {size}")
            self.command(self.vhost, f"start tx_first {BURST}")
            return
        self.command(self.vhost, "start")
        self.command(self.vhost, "stop")
        self.command(self.vhost, "set flush_rx off")  # what waits in the ring belongs to the mix
        self.command(self.vhost, f"set burst {IMIX_BURST}")
        for _ in range(IMIX_ROUNDS):
            for part, number in IMIX:
                self.command(self.vhost, f"set txpkts {part}")
                self.command(self.vhost, f"start tx_first {number}")
                self.command(self.vhost, "stop")
        self.command(self.vhost, f"set burst {BURST}")
        self.command(self.vhost, "start")
        self.command(self.vhost, "set flush_rx on")

    def start_one_way(self, sender, receiver, size):
        """Let one side send packets of a size to the other one."""
        self.command(receiver, "set fwd rxonly")
        self.command(sender, "set fwd txonly")
        self.command(sender, f"set txpkts {size}")
        self.command(receiver, "start")
        self.command(sender, "start")

    def start_latency(self, size):
        """Let a single packet go round."""
        self.both("set fwd io")
        self.command(self.virtio, "start")
        self.command(self.vhost, f"set txpkts {size}")
        self.command(self.vhost, "set burst 1")
        self.command(self.vhost, "start tx_first 1")
        self.command(self.vhost, f"set burst {BURST}")

    def measure(self, direction, size, seconds):
        """Measure a window; return it in Mpps, or microseconds for the direction latency."""
        receiver = self.virtio if direction == "enqueue" else self.vhost
        if direction == "loop":
            self.start_loop(size)
        elif direction == "latency":
            self.start_latency(size)
        else:
            self.start_one_way(*((self.vhost, self.virtio) if direction == "enqueue" else
                                 (self.virtio, self.vhost)), size)
        self.sleep(SETTLE_S)
        lost = self.lost()
        steal, waited = steal_ticks(self.placement.forward), self.waited()
        before = self.count(receiver)
        self.sleep(seconds)
        after = self.count(receiver)
        steal = steal_ticks(self.placement.forward) - steal
        waited = max(b - a for a, b in zip(waited, self.waited()))
        lost = self.lost() - lost
        self.both("stop")
        packets, size_sum, elapsed = (b - a for a, b in zip(before, after))
        why = why_dropped(direction, steal, waited, elapsed, lost, packets)
        raw = (before[2], elapsed, packets, lost, steal, waited)
        if not packets and why in ("steal", "wait"):
            return Window(None, why, *raw)  # it had no CPU to receive any
        self.check_bytes(size, packets, size_sum)
        value = elapsed * 1e6 / packets if direction == "latency" else packets / elapsed / 1e6
        return Window(value, why, *raw)

    def can_verify(self):
        """Tell whether the virtio-user side has the forwarding engine that checks packets."""
        return b"Set verify" in self.command(self.virtio, "set fwd verify")

    def verify(self, packets, engine="io", patience=VERIFY_PATIENCE_S, show=lambda received: None):
        """Let virtio-user send packets until that many came back through vhost, and check them.

        engine: what vhost forwards with. It gives up when none come for the seconds of patience.
        """
        self.command(self.virtio, "set fwd verify")
        self.command(self.virtio, f"set txpkts {VERIFY_SIZE}")
        self.command(self.vhost, f"set fwd {engine}")
        self.command(self.vhost, "start")
        first = received = self.count(self.virtio)[0]
        self.command(self.virtio, "start")
        heard = time.monotonic()
        while received - first < packets and time.monotonic() - heard <= patience:
            self.sleep(VERIFY_POLL_S)
            before, received = received, self.count(self.virtio)[0]
            show(received - first)
            if received > before:
                heard = time.monotonic()
        self.virtio.send("stop")  # waits for what is on its way, so vhost goes on until then
        counts = self.wait(self.virtio, VERIFIED + rb".*?" + PROMPT).groups()
        self.command(self.vhost, "stop")
        return Verified(*map(int, counts))

    def check_verify(self):
        """Raise LoopError unless changed and dropped packets are found out."""
        for engine, name in (("macswap", "corrupted"), ("rxonly", "lost")):
            if getattr(self.verify(1, engine, VERIFY_POLL_S), name) == 0:
                raise LoopError(f"the check of packets finds none {name} where vhost forwards "
                                f"by {engine}{self.tails()}")

    def check_bytes(self, size, packets, size_sum):
        """Raise LoopError if no packets came, or not of the size that was sent."""
        mean = (sum(part * number for part, number in IMIX) / sum(number for _, number in IMIX)
                if size == "imix" else size)
        # testpmd reads its two counters while a burst may be between them,
        # and a mix goes round as a whole: the window may end within it.
        slack = 2 * MAX_BURST * mean + (192 * 1518 if size == "imix" else 0)
        if not packets or abs(size_sum - packets * mean) > slack:
            raise LoopError(f"{packets} packets of {size} bytes came back, "
                            f"but {size_sum} bytes in all{self.tails()}")


def dropped(answer):
    """Return how many packets could not be sent on, from what testpmd says of its forwarding.

    It says so for the port and once more for all ports: there is one port.
    """
    numbers = re.findall(rb"TX-dropped: *(\d+)", answer)
    return int(numbers[0]) if numbers else 0


def why_dropped(direction, steal, waited, elapsed, lost, packets):
    """Return why a window does not count, or None: the rule for windows."""
    ticks = elapsed * os.sysconf("SC_CLK_TCK") * 2  # of two CPUs
    # one tick is what the clock cannot tell from nothing
    if steal > max(1, MAX_STEAL * ticks):
        return "steal"
    if waited > MAX_WAIT * elapsed:
        return "wait"
    # a sender without a loop fills its ring, and drops what is beyond
    if direction in ("loop", "latency") and lost > MAX_LOSS * packets:
        return "loss"
    return None


@contextlib.contextmanager
def run_directory():
    """Make a directory that is removed whatever happens, kill -9 of this program included."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    # in /tmp rather than $TMPDIR: the path of a socket must be short
    run_dir = tempfile.mkdtemp(prefix="vhost-loop-", dir="/tmp")
    # cat ends when the kernel closes the pipe for a program that has ended
    script = 'cat; rm -rf "$1" || { sleep 1; rm -rf "$1"; }'
    janitor = subprocess.Popen(["sh", "-c", script, "sh", run_dir], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
        yield run_dir
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        janitor.communicate()
        shutil.rmtree(run_dir, ignore_errors=True)  # should somebody have killed the janitor
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)


def stop(signum, _):
    """Signal handler: end the program once, undisturbed by further signals."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    raise Stopped(signum)
