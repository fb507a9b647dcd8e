#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors

"""Tests of devtools/mca: on recorded output of the tools, and once for real.

Exit status 77 if all that could be run has passed, but there is no llvm-mca, cross compiler,
emulator or pristine DPDK (environment variable DPDK_PRISTINE) for the real run."""

import contextlib
import importlib.machinery
import importlib.util
import io
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import unittest

DEVTOOLS = pathlib.Path(__file__).resolve().parent
TOOL = DEVTOOLS / "mca"
EXIT_SKIPPED = 77

sys.dont_write_bytecode = True
LOADER = importlib.machinery.SourceFileLoader("mca", str(TOOL))
mca = importlib.util.module_from_spec(importlib.util.spec_from_loader("mca", LOADER))
LOADER.exec_module(mca)
PRISTINE = pathlib.Path(os.environ.get("DPDK_PRISTINE", mca.PRISTINE))

ARM_LISTING = """
copies:	file format elf64-littleaarch64

Disassembly of section .text:

00000000004007a0 <rte_memcpy_long.isra.0>:
  4007a0:      	sub	x6, x2, #0x80
  4007a4:      	mov	x7, #0xfffff            // =1048575
  4007a8:      	ret

000000000040084c <copy>:
  40084c:      	adrp	x0, 0x492000 <_IO_strn_jumps+0x90>
  400850:      	cmp	x2, #0x10
  400854:      	b.hi	0x40085c <copy+0x10>
  400858:      	ret
  40085c:      	tbz	w2, #0x3, 0x400864 <copy+0x18>
  400860:      	bl	0x4007a0 <rte_memcpy_long.isra.0>
  400864:      	ld1b	{ z0.b }, p0/z, [x1, #0x1, mul vl]
  400868:      	b	0x401000 <memcpy>
"""
POWER_LISTING = """
0000000010000d60 <copy>:
10000d60:      	lis 2, 4110
10000d64:      	addi 2, 2, 31488
10000d68:      	nop
10000d6c:      	bt	1, 0x10000d78 <copy+0x18>
10000d70:      	bl 0x10000f00 <memcpy>
10000d74:      	nop
10000d78:      	bgtlr	7
10000d7c:      	blr
"""
X86_LISTING = """
00000000004016b0 <copy>:
  4016b0:      	movq	0xa4d51(%rip), %rcx     # 0x4a6408 <copy_args+0x8>
  4016b7:      	jne	0x4016c5 <copy+0x15>
  4016be:      	callq	0x401800 <rte_memcpy_long>
  4016c5:      	retq
"""
QEMU_LOG = b"""\
Trace 0: 0x7f2cc6cc0cc0 [0000000000001001/000000000040084c/00000001/00000201] copy
Trace 0: 0x7f2cc6cc0e00 [0000000000001001/0000000000400850/00000001/00000201] copy
Trace 0: 0x7f8fc8112540 [0000000000000000/0000000010000d68/02806105/00000201] copy
"""
MCA_JSON = """{
  "CodeRegions": [
    {
      "Instructions": ["ld1b\\t{ z0.b }, p0/z, [x1]", "st1b\\t{ z0.b }, p0, [x0]"],
      "Name": "0",
      "SummaryView": {
        "BlockRThroughput": 1, "DispatchWidth": 6, "IPC": 1.953125, "Instructions": 2000,
        "Iterations": 1000, "TotalCycles": 1024, "TotaluOps": 2000, "uOpsPerCycle": 1.953125
      }
    },
    {
      "Instructions": ["ldp\\tq0, q1, [x1]"],
      "Name": "1",
      "SummaryView": {
        "BlockRThroughput": 0.5, "DispatchWidth": 6, "IPC": 1.9723865877712032,
        "Instructions": 1000, "Iterations": 1000, "TotalCycles": 507, "TotaluOps": 3000,
        "uOpsPerCycle": 5.9171597633136095
      }
    }
  ],
  "SimulationParameters": {"-march": "aarch64", "-mcpu": "a64fx", "-mtriple": "aarch64"},
  "TargetInfo": {"CPUName": "a64fx", "Resources": ["A64FXIPBR", "A64FXIPEAGA"]}
}
"""


def listed(listing):
    """Return a Program that has only the instructions of a listing."""
    program = mca.Program.__new__(mca.Program)
    program.instructions, program.begin = mca.parse_listing(listing)
    ordered = sorted(program.instructions)
    program.following = dict(zip(ordered, ordered[1:]))
    return program


def call(*arguments, **environment):
    """Run the tool; return its exit status, stdout and stderr."""
    done = subprocess.run([sys.executable, TOOL, *map(str, arguments)], text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, **environment))
    return done.returncode, done.stdout, done.stderr


def missing():
    """Return why there can be no real run, or None."""
    if not (PRISTINE / "lib/eal/include/rte_common.h").is_file():
        return f"no pristine DPDK at {PRISTINE}"
    try:
        mca.find_llvm()
        for arch in (mca.ARM64, mca.PPC64LE):
            mca.need(arch.gcc, arch.package)
            mca.need(arch.qemu, "qemu-user")
    except mca.MissingTool as error:
        return str(error)
    return None


class ListingTest(unittest.TestCase):
    """What llvm-objdump prints, and the paths through it."""

    def test_instructions(self):
        """Comments and targets outside the block go, operands stay."""
        arm, power, x86 = map(listed, (ARM_LISTING, POWER_LISTING, X86_LISTING))
        self.assertEqual(arm.begin, 0x40084c)
        self.assertEqual(len(arm.instructions), 11)
        self.assertEqual(arm.instructions[0x4007a4], "mov x7, #0xfffff")
        self.assertEqual(arm.instructions[0x40084c], "adrp x0, 0x492000")
        self.assertEqual(arm.instructions[0x400854], "b.hi elsewhere")
        self.assertEqual(arm.instructions[0x40085c], "tbz w2, #0x3, elsewhere")
        self.assertEqual(arm.instructions[0x400864], "ld1b { z0.b }, p0/z, [x1, #0x1, mul vl]")
        self.assertEqual(power.instructions[0x10000d6c], "bt 1, elsewhere")
        self.assertEqual(x86.instructions[0x4016b0], "movq 0xa4d51(%rip), %rcx")
        self.assertEqual(x86.instructions[0x4016be], "callq elsewhere")

    def test_power_local_entry(self):
        """Calls within a POWER program skip the two instructions that set the TOC."""
        self.assertEqual(listed(POWER_LISTING).begin, 0x10000d68)
        self.assertEqual(listed(POWER_LISTING.replace("lis 2, 4110", "addis 2, 12, 2")).begin,
                         0x10000d68)
        self.assertEqual(listed(POWER_LISTING.replace("lis 2,", "lis 22,")).begin, 0x10000d60)

    def test_no_copy(self):
        """A listing without copy() is an error."""
        for listing in ("", ARM_LISTING.replace("<copy>", "<main>"), "0000000040 <copy>:\n"):
            with self.assertRaisesRegex(mca.McaError, "no function copy"):
                mca.parse_listing(listing)

    def test_leaves(self):
        """A call that comes back at once, or a path without a return, went to libc."""
        arm, power, x86 = map(listed, (ARM_LISTING, POWER_LISTING, X86_LISTING))
        for program, path, expected in (
                (arm, [0x40084c, 0x400850, 0x400854, 0x400858], False),
                (arm, [0x40084c, 0x40085c, 0x400860, 0x4007a0, 0x4007a4, 0x4007a8, 0x400864,
                       0x400858], False),
                (arm, [0x40084c, 0x40085c, 0x400860, 0x400864, 0x400858], True),
                (arm, [0x40084c, 0x40085c, 0x400864, 0x400868], True),
                (power, [0x10000d68, 0x10000d6c, 0x10000d78, 0x10000d7c], False),
                (power, [0x10000d68, 0x10000d6c, 0x10000d78], False),
                (power, [0x10000d68, 0x10000d6c, 0x10000d70, 0x10000d74, 0x10000d78], True),
                (x86, [0x4016b0, 0x4016b7, 0x4016c5], False),
                (x86, [0x4016b0, 0x4016b7, 0x4016be, 0x4016c5], True)):
            with self.subTest(path=[program.instructions[address] for address in path]):
                self.assertEqual(program.leaves(path), expected)

    def test_is_call(self):
        """On Arm blr is a call and names a register, on POWER it is the return."""
        for text, expected in (("bl elsewhere", True), ("blr x3", True), ("bctrl", True),
                               ("callq elsewhere", True), ("call elsewhere", True),
                               ("blr", False), ("blt elsewhere", False), ("b elsewhere", False)):
            self.assertEqual(mca.is_call(text), expected, text)

    def test_text(self):
        """The return is no part of inlined code."""
        self.assertEqual(listed(X86_LISTING).text([0x4016b0, 0x4016b7, 0x4016c5]),
                         ["movq 0xa4d51(%rip), %rcx", "jne elsewhere"])

    def test_qemu_log(self):
        """The second number in brackets is the address."""
        self.assertEqual(mca.TRACED.findall(QEMU_LOG),
                         [b"000000000040084c", b"0000000000400850", b"0000000010000d68"])

    def test_split_paths(self):
        """Each copy begins at copy(); what was run before is none."""
        self.assertEqual(mca.split_paths([7, 9, 1, 2, 3, 1, 3], 1), [[1, 2, 3], [1, 3]])
        self.assertEqual(mca.split_paths([], 1), [])

    def test_find_loop(self):
        """The loop is what a longer copy does more often."""
        begin, body, end = [1, 2], [5, 6, 7], [8, 9]
        extra = mca.LOOP_SIZES[1] - mca.LOOP_SIZES[0]
        self.assertEqual(mca.find_loop(begin + 10 * body + end, begin + 20 * body + end),
                         (body, extra / 10))
        self.assertEqual(mca.find_loop(begin + end, begin + end), ([], 0))


class ModelTest(unittest.TestCase):
    """What llvm-mca is asked, and what it answers."""

    def test_input(self):
        """Each block is a region of its own."""
        self.assertEqual(mca.mca_input([["nop"], ["ret", "nop"]]),
                         "# LLVM-MCA-BEGIN 0\nnop\n# LLVM-MCA-END 0\n"
                         "# LLVM-MCA-BEGIN 1\nret\nnop\n# LLVM-MCA-END 1\n")

    def test_recorded(self):
        """Cycles of one iteration, in the order of the blocks."""
        self.assertEqual(mca.parse_mca(MCA_JSON), [1.024, 0.507])
        answer = json.loads(MCA_JSON)
        answer["CodeRegions"].reverse()
        self.assertEqual(mca.parse_mca(json.dumps(answer)), [1.024, 0.507])

    def test_broken(self):
        """What is not the expected JSON is an error, not a traceback."""
        for text in ("", "[]", "{}", MCA_JSON[:200], MCA_JSON.replace("TotalCycles", "Cycles"),
                     MCA_JSON.replace('"Name": "0"', '"Name": "2"'),
                     MCA_JSON.replace('"Name": "0"', '"Name": "x"')):
            with self.subTest(text=text[:20]), \
                    self.assertRaisesRegex(mca.McaError, "not the expected output"):
                mca.parse_mca(text)


class TableTest(unittest.TestCase):
    """What the user sees."""

    ROWS = [mca.Row("ours", [3.46, 2, 4, 6, 10.04], 7, 128.0, 31.95, ["ldp", "stp"]),
            mca.Row("DPDK", [mca.LIBC] * 5, 2, 0, 0, [])]

    def printed(self, function, *arguments):
        """Return the lines that a function prints."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            function(*arguments)
        return output.getvalue().splitlines()

    def test_cells(self):
        """Numbers are rounded, and libc stands where there is none."""
        self.assertEqual(mca.cells(self.ROWS[0]), [
            "ours", "3.5", "2.0", "4.0", "6.0", "10.0", "7", "128", "31.9"])
        self.assertEqual(mca.cells(self.ROWS[1]), [
            "DPDK", *["libc"] * 5, "2", "libc", "libc"])

    def test_text(self):
        """Columns line up; the loop comes when asked for."""
        lines = self.printed(mca.print_text, "a64fx", self.ROWS, True)
        self.assertEqual(lines[1], "a64fx (SVE vectors of 64 bytes)")
        self.assertEqual(len(set(map(len, lines[2:5]))), 1)
        self.assertEqual(lines[5:], ["main loop of ours:", "        ldp", "        stp"])
        self.assertEqual(len(self.printed(mca.print_text, "a64fx", self.ROWS, False)), 5)

    def test_rst(self):
        """A simple table: every cell begins where its column does."""
        lines = self.printed(mca.print_rst, [("a64fx", self.ROWS), ("pwr9", self.ROWS)])
        self.assertEqual(len(lines), 8)
        self.assertEqual({lines[0], lines[2]}, {lines[-1]})
        begins = [place for place, sign in enumerate(" " + lines[0])
                  if sign == " " and place < len(lines[0])]
        for line in lines[3:-1]:
            for begin in begins:
                self.assertTrue(line[begin] != " " and (begin == 0 or line[begin - 1] == " "))


class BadInputTest(unittest.TestCase):
    """One clear line for each mistake."""

    def refused(self, text, status, *arguments, **environment):
        """The tool must say one line with text on stderr, nothing else, and exit with status."""
        ret, stdout, stderr = call(*arguments, **environment)
        self.assertEqual((ret, stdout, stderr.count("\n")), (status, "", 1), stderr)
        self.assertRegex(stderr, "^mca: .*" + text)

    def tree(self, directory):
        """Make what passes for a DPDK tree."""
        header = pathlib.Path(directory, "lib/eal/include/rte_common.h")
        header.parent.mkdir(parents=True)
        header.touch()
        return directory

    def path(self, directory, *programs):
        """Make a directory of programs that are never run."""
        for name in programs:
            program = pathlib.Path(directory, name)
            program.write_text("#!/bin/sh\nexit 1\n")
            program.chmod(0o755)
        return directory

    def test_unknown_cpu(self):
        """A CPU that is not in the table."""
        self.refused("no CPU pentium, there are: a64fx", 1, "pentium")

    def test_no_trees(self):
        """A tree that was not fetched, and a repository that is none."""
        self.refused("/nowhere: no DPDK tree there; run devtools/patchset fetch", 1,
                     "--dpdk", "/nowhere")
        with tempfile.TemporaryDirectory() as directory:
            self.refused("not a copy of this repository", 1, "--dpdk", self.tree(directory),
                         "--ours", directory)

    def test_missing_programs(self):
        """Each missing program is named, with the package to install."""
        llvm = ("llvm-mca-22", "llvm-objdump-22")
        for have, lacks, package in (
                ((), "llvm-mca-22", "llvm-22"),
                (("llvm-mca-14", "llvm-objdump-14"), "llvm-mca-22", "llvm-22"),
                (("llvm-mca-22",), "llvm-objdump-22", "llvm-22"),
                ((*llvm, "llvm-mca-23"), "llvm-objdump-23", "llvm-23"),
                (llvm, "aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu"),
                ((*llvm, "aarch64-linux-gnu-gcc"), "qemu-aarch64", "qemu-user")):
            with self.subTest(lacks=lacks), tempfile.TemporaryDirectory() as programs, \
                    tempfile.TemporaryDirectory() as tree:
                self.refused(f"no {lacks} here: apt-get install .* {package}", EXIT_SKIPPED,
                             "--dpdk", self.tree(tree), "a64fx",
                             PATH=self.path(programs, *have))

    def test_compiler_fails(self):
        """What the compiler says is passed on."""
        with tempfile.TemporaryDirectory() as programs, tempfile.TemporaryDirectory() as tree:
            self.path(programs, "llvm-mca-22", "llvm-objdump-22", "aarch64-linux-gnu-gcc",
                      "qemu-aarch64")
            self.refused("ours: does not compile: exit status 1", 1, "--rst", "--dpdk",
                         self.tree(tree), "neoverse-n1", PATH=programs)


@unittest.skipIf(missing(), missing())
class RealTest(unittest.TestCase):
    """The tool as a whole, and the tools that it uses."""

    def test_unknown_to_llvm(self):
        """llvm-mca only warns of a CPU that it does not know, and of no CPU of ours."""
        with self.assertRaisesRegex(mca.McaError, "'a64fy' is not a recognized processor"):
            mca.model(mca.find_llvm(), "a64fy", mca.CPUS["a64fx"], [["ret"]])
        for name, cpu in mca.CPUS.items():
            self.assertGreater(mca.model(mca.find_llvm(), name, cpu, [["nop"]])[0], 0)

    def test_steady_state(self):
        """The way into and out of the pipeline does not count: a vector takes one cycle."""
        blocks = [["ld1b { z0.b }, p0/z, [x1]", "st1b { z0.b }, p0, [x0]"]]
        cycles = mca.model(mca.find_llvm(), "a64fx", mca.CPUS["a64fx"], blocks)
        self.assertAlmostEqual(cycles[0], 1, delta=0.1)

    def test_bad_instruction(self):
        """What llvm-mca cannot read is an error."""
        with self.assertRaisesRegex(mca.McaError, "^llvm-mca, pwr9: .*error"):
            mca.model(mca.find_llvm(), "pwr9", mca.CPUS["pwr9"], [["ld1b"]])

    def test_run(self):
        """All copies of CPUs with vectors of 16 and 64 bytes are modelled."""
        ret, stdout, stderr = call("a64fx", "pwr9", "--dpdk", PRISTINE)
        self.assertEqual((ret, stderr), (0, ""))
        self.assertRegex(stdout, "^A MODEL, not a measurement: llvm-mca of LLVM 2")
        rows = {}
        for block in stdout.split("\n\n")[1:]:
            cpu, _, *lines = block.splitlines()
            for line in lines:
                name, *numbers = line.rsplit(None, len(mca.CLASSES) + 3)
                rows[cpu.split()[0], name] = list(map(float, numbers))
        self.assertEqual(set(rows), {(name, code.name) for name in ("a64fx", "pwr9")
                                     for code in mca.CPUS[name].codes})
        for key, (*cycles, paths, loop_bytes, bytes_per_cycle) in rows.items():
            with self.subTest(key):
                self.assertTrue(all(1 <= each < 100 for each in cycles), cycles)
                self.assertTrue(len(mca.CLASSES) - 1 <= paths < 100, paths)
                self.assertEqual(loop_bytes % 16, 0)
                self.assertTrue(1 <= bytes_per_cycle <= 64.1, bytes_per_cycle)
        self.assertEqual(rows["a64fx", "one SVE vector a round"][-2], 64)

    @unittest.skipUnless(platform.machine() == "x86_64", "steps through x86-64 programs only")
    def test_native(self):
        """A program of this machine, run step by step."""
        code = next(code for code in mca.X86_CODES if code.name == "ours, AVX2")
        if not mca.cpu_has(code.cpu_flags):
            self.skipTest(f"this CPU cannot run {code.name}")
        program = mca.program_of(mca.HERE, code, mca.ROOT, PRISTINE, mca.find_llvm())
        self.assertEqual(list(program.paths), list(mca.SIZES))
        row = mca.examine(mca.find_llvm(), "alderlake", program)
        self.assertTrue(all(1 <= each < 100 for each in row.small), row)
        self.assertEqual(row.loop_bytes % 16, 0)

    @unittest.skipUnless(platform.machine() == "x86_64", "steps through x86-64 programs only")
    def test_left_to_libc(self):
        """Classes that SSE code leaves to libc have no cycles."""
        code = next(code for code in mca.X86_CODES if code.name == "ours, SSE4.2")
        program = mca.program_of(mca.HERE, code, mca.ROOT, PRISTINE, mca.find_llvm())
        small = mca.examine(mca.find_llvm(), "alderlake", program).small
        self.assertNotIn(mca.LIBC, small[:3])
        self.assertEqual(small[3:], [mca.LIBC] * 2)


if __name__ == "__main__":
    RESULT = unittest.main(exit=False).result
    if RESULT.wasSuccessful() and missing():
        print(f"skipped: {missing()}")
        sys.exit(EXIT_SKIPPED)
    sys.exit(not RESULT.wasSuccessful())
