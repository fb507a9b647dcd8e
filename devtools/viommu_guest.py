# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors

"""A guest in QEMU behind a virtual IOMMU and the testpmd it talks to, for devtools/check-viommu."""

import contextlib
import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile
import time

KERNELS = pathlib.Path(__file__).resolve().parent.parent / "build" / "guest-kernel"
QEMU = "qemu-system-x86_64"
BUSYBOX = "/bin/busybox"
BOOT_TIMEOUT_S = 90
FETCH_TIMEOUT_S = 600
NOT_KEPT = ("vhost", "initrd", "dpdk")  # of a directory of work

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in {modules}; do insmod /modules/$module.ko; done
{commands}
poweroff -f
"""


class Missing(Exception):
    """What this machine lacks, in one line."""


class Failed(Exception):
    """What went wrong, in one line."""


def cpio_entry(name, mode, data=b""):
    """A file of an archive in the format newc, which Linux unpacks as its first root."""
    path = name.encode() + b"\0"
    fields = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields) + path
    return head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4)


def cpio(files):
    """An archive of programs, given as {path: content}, with the directories they are in."""
    folders = {str(folder) for name in files for folder in pathlib.PurePath(name).parents}
    archive = [cpio_entry(name, stat.S_IFDIR | 0o755)
               for name in sorted(folders - {"."} | {"proc", "sys", "dev"})]
    archive += [cpio_entry(name, stat.S_IFREG | 0o755, data) for name, data in files.items()]
    return b"".join(archive) + cpio_entry("TRAILER!!!", 0)


def find_module(kernel, name):
    """The content of a module of a kernel's package."""
    paths = sorted((kernel / "lib/modules").glob(f"*/kernel/**/{name}.ko"))
    if not paths:
        raise Missing(f"no module {name} below {kernel}/lib/modules")
    return paths[0].read_bytes()


def make_initrd(kernel, modules, commands, files):
    """The root of a guest that loads modules in this order, runs commands and powers off."""
    init = INIT.format(modules=" ".join(modules), commands=commands)
    return cpio({"init": init.encode(), "bin/busybox": pathlib.Path(BUSYBOX).read_bytes(),
                 **{f"modules/{name}.ko": find_module(kernel, name) for name in modules},
                 **files})


def fetch_kernel():
    """Unpack the distribution's kernel for virtual machines below build/, once; install nothing."""
    if list(KERNELS.glob("boot/vmlinuz-*")):
        return KERNELS
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        raise Missing("no apt-get to fetch a kernel with; name an unpacked one with --kernel")
    depends = subprocess.run(["apt-cache", "depends", "linux-image-cloud-amd64"], check=False,
                             capture_output=True, text=True).stdout
    package = re.search(r"Depends: (linux-image-\S+)", depends)
    if not package:
        raise Missing("apt-cache knows no linux-image-cloud-amd64; apt-get update may help")
    KERNELS.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=KERNELS.parent, prefix="guest-kernel-") as work:
        try:
            done = subprocess.run(["apt-get", "-q", "download", package[1]], cwd=work, check=False,
                                  capture_output=True, text=True, timeout=FETCH_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise Missing(f"cannot fetch {package[1]}: not within {FETCH_TIMEOUT_S} s") from None
        debs = list(pathlib.Path(work).glob("*.deb"))
        if done.returncode != 0 or not debs:
            raise Missing(f"cannot fetch {package[1]}: {done.stderr.strip().splitlines()[-1:]}")
        subprocess.run(["dpkg-deb", "-x", str(debs[0]), f"{work}/tree"], check=True)
        shutil.rmtree(KERNELS, ignore_errors=True)
        os.rename(f"{work}/tree", KERNELS)
    return KERNELS


def find_kernel(given):
    """The folder with boot/vmlinuz-* and lib/modules of a kernel, and the former."""
    kernel = given or fetch_kernel()
    images = sorted(kernel.glob("boot/vmlinuz-*"))
    if not images:
        raise Missing(f"no boot/vmlinuz-* in {kernel}")
    return kernel, images[-1]


@contextlib.contextmanager
def work_directory(keep):
    """A directory for a run, whose logs stay where it is said."""
    with tempfile.TemporaryDirectory(prefix="viommu-") as name:
        try:
            yield pathlib.Path(name)
        finally:
            if keep:
                shutil.copytree(name, keep, dirs_exist_ok=True,
                                ignore=shutil.ignore_patterns(*NOT_KEPT))


@contextlib.contextmanager
def running(argv, log, **more):
    """Run a program in the background; end it with the block, whatever happens."""
    with open(log, "wb") as output:
        process = subprocess.Popen(argv, stdout=output, stderr=subprocess.STDOUT, **more)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(what, condition, timeout_s, *processes):
    """Wait until a condition holds; raise Failed if it does not, or a program ends first."""
    end = time.monotonic() + timeout_s
    while not condition():
        ended = [process.args[0] for process in processes if process.poll() is not None]
        if ended and not condition():
            raise Failed(f"{what}: {ended[0]} ended early")
        if time.monotonic() > end:
            raise Failed(f"{what}: not within {timeout_s} s")
        time.sleep(0.1)


def read(path):
    """What a log holds so far."""
    return path.read_text(errors="replace") if path.exists() else ""


def testpmd_argv(testpmd, socket):
    """The vhost end, on normal pages."""
    return [str(testpmd), "-l", "0,1", "--no-huge", "-m", "128", "--no-pci", "--no-shconf",
            "--log-level=lib.vhost.config:debug",
            "--vdev", f"net_vhost0,iface={socket},iommu-support=1",
            "--", "-i", "--total-num-mbufs=2048"]


def qemu_argv(image, work, ring, memory_mb, options):
    """A guest with the device behind the IOMMU, on a port of its own for its device IOTLB."""
    return [QEMU, "-accel", "tcg", "-cpu", "max", "-machine", "q35,kernel-irqchip=split",
            "-m", f"{memory_mb}", "-smp", "1", "-nographic", "-nodefaults", "-no-reboot",
            "-object", f"memory-backend-memfd,id=mem,size={memory_mb}M,share=on",
            "-numa", "node,memdev=mem",
            "-device", "intel-iommu,intremap=on,device-iotlb=on,aw-bits=48",
            "-chardev", f"socket,id=vhost,path={work / 'vhost'}",
            "-netdev", "vhost-user,id=net,chardev=vhost",
            "-device", "pcie-root-port,id=root,chassis=1,slot=1",
            # Under emulation it crashes with vhost-user and interrupt vectors.
            "-device", "virtio-net-pci,bus=root,netdev=net,disable-legacy=on,iommu_platform=on,"
            f"ats=on,romfile=,vectors=0,packed={'on' if ring == 'packed' else 'off'}",
            "-serial", f"file:{work / 'serial.log'}",
            "-kernel", str(image), "-initrd", str(work / "initrd"),
            # On a busy machine the kernel's test of its timer fails.
            "-append", f"console=ttyS0 panic=-1 quiet no_timer_check intel_iommu=on {options}"]


class Pair:
    """The testpmd with net_vhost, and the guest, both at work."""

    def __init__(self, work, vhost, guest):
        self.work, self.vhost, self.guest = work, vhost, guest

    def command(self, *lines):
        """Give testpmd commands."""
        self.vhost.stdin.write("".join(f"{line}\n" for line in lines).encode())
        self.vhost.stdin.flush()

    def serial(self):
        """What the guest said so far."""
        return read(self.work / "serial.log")

    def testpmd_log(self):
        """What testpmd said so far."""
        return read(self.work / "testpmd.log")

    def wait_for(self, what, condition, timeout_s):
        """Wait until a condition holds, while both are running."""
        wait_for(what, condition, timeout_s, self.vhost, self.guest)


@contextlib.contextmanager
def running_pair(work, testpmd, engine, qemu):
    """Run both ends, testpmd first, which makes the socket."""
    socket = work / "vhost"
    # Its own files go where all goes at the end.
    env = dict(os.environ, RUNTIME_DIRECTORY=str(work))
    with running(testpmd_argv(testpmd, socket), work / "testpmd.log", env=env,
                 stdin=subprocess.PIPE) as vhost:
        wait_for("testpmd makes its socket", socket.exists, 20, vhost)
        with running(qemu, work / "qemu.log", stdin=subprocess.DEVNULL) as guest:
            pair = Pair(work, vhost, guest)
            # Without retries each miss costs a packet.
            pair.command(f"set fwd {engine} retry", "set burst tx delay 50 retry 500")
            yield pair
