#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors

"""Tests of devtools/patchset, on small made-up trees and once on the real source."""

import contextlib
import importlib.machinery
import importlib.util
import io
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from unittest import mock

DEVTOOLS = pathlib.Path(__file__).resolve().parent
ROOT = DEVTOOLS.parent
TOOL = DEVTOOLS / "patchset"
HEADER = "lib/eal/x86/include/rte_memcpy.h"  # replaced
NEW = "lib/pktcpy/x86/pktcpy.h"  # new, in new directories
SCRIPT = "app/test/run.sh"
EDITED = "lib/vhost/meson.build"
PATCHED = "lib/vhost/virtio_net.c"
LAID = {HEADER, NEW, SCRIPT, EDITED, "meson_options.txt"}
LONG_AGO = 1_000_000_000
OUR_OPTIONS = """option('dpdk_source', type: 'string', value: '', description: 'yield: true (no)')
option('use_cc_memcpy', type: 'boolean', value: false, yield: true, description:
       'The compiler\\'s memcpy (libc :)')
"""
DPDK_OPTIONS = """# sorted
option('a', type: 'string', value: 'x', description:
       'Ends (in general) with ) or \\'.')
option('z_early', type: 'boolean', value: true)
option('tests', type: 'boolean', value: true)
option('use_hpet', type: 'boolean', value: false)
option('zoo', type: 'boolean', value: false)
"""
VIRTIO_NET = """static void
do_data_copy_enqueue(struct vq *vq)
{
\trte_memcpy(vq->dst, vq->src,
\t\t   vq->len);
}
void
other(void *d, void *s) __rte_requires_shared_capability(&lock)
{
\trte_memcpy(d, s, 4);
\tgone();
}
"""
RULE = "@@ expression d, s, n; @@\n-rte_memcpy\n+pktcpy\n (d, s, n)\n"

sys.dont_write_bytecode = True
sys.path.insert(0, str(DEVTOOLS))
LOADER = importlib.machinery.SourceFileLoader("patchset", str(TOOL))
patchset = importlib.util.module_from_spec(importlib.util.spec_from_loader("patchset", LOADER))
LOADER.exec_module(patchset)
import dpdk_edits  # noqa: E402
import dpdk_source  # noqa: E402


def write(path, text="", mode=0o644):
    """Write a small file, and the directories above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    path.chmod(mode)


def snapshot(tree, times=False):
    """Return all that is in a tree: {path: (mode, content or link, time if asked for)}."""
    found = {}
    for path in sorted(tree.rglob("*")):
        info = path.lstat()
        content = os.readlink(path) if path.is_symlink() else \
            path.read_bytes() if path.is_file() else None
        when = info.st_mtime_ns if times and not path.is_dir() else 0
        found[str(path.relative_to(tree))] = (info.st_mode, content, when)
    return found


def make_tree(tree, version="22.11.11"):
    """Make what passes for a DPDK tree."""
    write(tree / "VERSION", version + "\n")
    write(tree / "meson.build", "project('DPDK')\n")
    write(tree / "meson_options.txt", DPDK_OPTIONS)
    write(tree / HEADER, "DPDK's\n", 0o640)
    write(tree / EDITED, b"headers = files(\n        'a.h',\n\xff)\nlast", 0o604)
    write(tree / PATCHED, VIRTIO_NET)
    write(tree / "app/meson.build", "DPDK's\n")


class Case(unittest.TestCase):
    """A repository, a tree beside it, and ways to run the tool."""

    below = None

    def setUp(self):
        work = tempfile.TemporaryDirectory(dir=self.below)
        self.addCleanup(work.cleanup)
        self.work = pathlib.Path(work.name).resolve()
        self.root, self.tree = self.work / "root", self.work / "tree"
        write(self.root / HEADER, "ours\n")
        write(self.root / NEW, "new\n")
        write(self.root / SCRIPT, "#!/bin/sh\n", 0o755)
        write(self.root / (EDITED + ".edit"), "# why\n@after 'a.h',\n+        'b.h',\n")
        write(self.root / "meson_options.txt", OUR_OPTIONS)
        write(self.root / "app/meson.build", "ours, not for the tree\n")
        write(self.root / patchset.MACROS, (DEVTOOLS / "spatch-macros.h").read_bytes())
        for junk in (".hidden", "b~", "x.orig", "__pycache__/x.pyc", ".dir/file", "#a#"):
            write(self.root / "lib" / junk)
        make_tree(self.tree)
        self.repository = patchset.Repository(self.root)

    def cli(self, *arguments, **environment):
        """Run the tool in a process of its own."""
        return subprocess.run([sys.executable, TOOL, "--root", self.root, *arguments], text=True,
                              capture_output=True, check=False, env={**os.environ, **environment})

    def fails(self, pattern, *arguments, **environment):
        """Run the tool: it must say why it fails in one line, and leave the tree alone."""
        before = snapshot(self.tree, times=True)
        result = self.cli(*arguments, **environment)
        self.assertEqual(result.returncode, 1, result)
        self.assertRegex(result.stderr.splitlines()[-1], "^patchset: error: .*" + pattern)
        self.assertNotIn("Traceback", result.stderr)
        self.assertEqual(result.stderr.count("error:"), 1, result.stderr)
        self.assertEqual(snapshot(self.tree, times=True), before)
        return result

    def succeeds(self, *arguments, **environment):
        """Run the tool, which must succeed; return its output."""
        result = self.cli(*arguments, **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def git(self, *arguments, where=None):
        """Run git in the tree."""
        return subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=b", *arguments],
                              cwd=where or self.tree, check=True, capture_output=True,
                              text=True).stdout

    def commit_tree(self):
        """Make the tree a git work tree."""
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("commit", "-qm", "DPDK")


class ApplyTest(Case):
    """apply, status and revert where all is well."""

    def test_lays_replaces_and_edits(self):
        self.assertEqual(self.repository.apply(self.tree), len(LAID))
        after = snapshot(self.tree)
        self.assertEqual(after[HEADER], (stat.S_IFREG | 0o640, b"ours\n", 0))
        self.assertEqual(after[NEW][1], b"new\n")
        self.assertEqual(after[SCRIPT][0], stat.S_IFREG | 0o755)
        text = b"headers = files(\n        'a.h',\n        'b.h',\n\xff)\nlast\n"
        self.assertEqual(after[EDITED], (stat.S_IFREG | 0o604, text, 0))
        self.assertEqual(after["app/meson.build"][1], b"DPDK's\n")
        self.assertFalse([path for path in after if "hidden" in path or "pyc" in path
                          or ".dir" in path or path.endswith(("~", ".orig", "#", ".edit"))])
        self.assertIn("5 ok", self.succeeds("status", self.tree))

    def test_twice_changes_nothing(self):
        for link in ([], ["--link"]):
            self.succeeds("apply", *link, self.tree)
            before = snapshot(self.tree, times=True)
            self.assertIn("nothing to change", self.succeeds("apply", *link, self.tree))
            self.assertEqual(snapshot(self.tree, times=True), before)

    def test_reverts_byte_for_byte(self):
        before = snapshot(self.tree)
        for link in (False, True):
            self.repository.apply(self.tree, link)
            self.assertNotEqual(snapshot(self.tree), before)
            self.succeeds("revert", self.tree)
            self.assertEqual(snapshot(self.tree), before)
        self.fails("the patchset is not applied", "revert", self.tree)

    def test_revert_keeps_what_the_user_added(self):
        self.repository.apply(self.tree)
        write(self.tree / "lib/pktcpy/mine.c", "mine")
        self.repository.revert(self.tree)
        self.assertEqual([*map(str, (self.tree / "lib/pktcpy").rglob("*"))],
                         [str(self.tree / "lib/pktcpy/mine.c")])

    def test_update_writes_only_what_changed(self):
        self.repository.apply(self.tree)
        before = snapshot(self.tree, times=True)
        (self.root / HEADER).unlink()
        (self.root / NEW).unlink()
        write(self.root / (EDITED + ".edit"), "@append\n+end\n")
        write(self.root / SCRIPT, "#!/bin/sh\n", 0o755)
        self.assertEqual(self.repository.apply(self.tree), 3)
        after = snapshot(self.tree, times=True)
        self.assertEqual(after[HEADER][:2], (stat.S_IFREG | 0o640, b"DPDK's\n"))
        self.assertFalse((self.tree / "lib/pktcpy").exists())
        self.assertTrue(after[EDITED][1].endswith(b"'a.h',\n\xff)\nlast\nend\n"))  # from pristine
        for path in (SCRIPT, "meson_options.txt", "VERSION"):
            self.assertEqual(after[path], before[path])
        self.assertFalse((self.tree / ".patchset/pristine" / HEADER).exists())

    def test_link_and_copy(self):
        inside = self.root / "subprojects/any"
        shutil.copytree(self.tree, inside)
        for tree, target in ((self.tree, str(self.root / HEADER)),
                             (inside, "../../../../../../" + HEADER)):
            self.repository.apply(tree, link=True)
            self.assertEqual(os.readlink(tree / HEADER), target)
            self.assertEqual((tree / HEADER).read_text(), "ours\n")
            self.assertFalse((tree / EDITED).is_symlink())
            self.assertTrue(self.repository.status(tree))
            self.assertEqual(self.repository.apply(tree, link=False), 3)
            self.assertFalse((tree / HEADER).is_symlink())
            self.assertEqual(self.repository.apply(tree, link=True), 3)

    def test_new_times_make_ninja_rebuild(self):
        for link in (False, True):
            for path in (self.root / HEADER, self.tree / HEADER, self.tree / EDITED):
                os.utime(path, (LONG_AGO, LONG_AGO))
            self.repository.apply(self.tree, link)
            for path in (HEADER, EDITED):
                self.assertGreater((self.tree / path).stat().st_mtime, time.time() - 100)
            os.utime(self.tree / ".patchset/pristine" / EDITED, (LONG_AGO, LONG_AGO))
            self.repository.revert(self.tree)
            for path in (HEADER, EDITED):
                self.assertGreater((self.tree / path).stat().st_mtime, time.time() - 100)

    def test_same_file_there_already_stays_after_revert(self):
        write(self.tree / NEW, "new\n")
        self.commit_tree()
        self.repository.apply(self.tree)
        self.repository.revert(self.tree)
        self.assertEqual((self.tree / NEW).read_text(), "new\n")

    def test_git_does_not_see_our_state(self):
        self.commit_tree()
        self.repository.apply(self.tree)
        changed = {line[3:] for line in self.git("status", "--porcelain", "-uall").splitlines()}
        self.assertEqual(changed, LAID)

    def test_states(self):
        self.assertEqual(self.cli("status", self.tree).returncode, 1)
        self.repository.apply(self.tree)
        write(self.tree / HEADER, "user's")
        (self.tree / SCRIPT).unlink()
        write(self.root / (EDITED + ".edit"), "@append\n+end\n")
        write(self.root / NEW, "newer\n")
        write(self.root / "lib/another.h")
        (self.root / "meson_options.txt").unlink()
        result = self.cli("status", self.tree)
        states = {line.split()[-1]: line.split("  ")[0] for line in result.stdout.splitlines()}
        old = "out of date"
        self.assertEqual({path: states[path] for path in [*LAID, "lib/another.h"]},
                         {HEADER: "differs", SCRIPT: "missing", EDITED: old, NEW: old,
                          "meson_options.txt": old, "lib/another.h": old})
        self.assertEqual(result.returncode, 1)
        self.assertIn("DPDK 22.11.11", result.stdout)


class LocalChangeTest(Case):
    """Nothing of the user's is lost."""

    def test_changed_since_applied(self):
        pristine = snapshot(self.tree)
        for path in (HEADER, NEW, EDITED):
            self.repository.apply(self.tree)
            write(self.tree / path, "user's\n")
            write(self.root / NEW, f"newer than before {path}\n")
            self.fails(path, "apply", self.tree)
            self.fails(path, "revert", self.tree)
            self.succeeds("revert", "--force", self.tree)
            self.assertEqual(snapshot(self.tree), pristine)

    def test_pristine_or_missing_is_no_change(self):
        self.repository.apply(self.tree)
        write(self.tree / HEADER, "DPDK's\n")
        (self.tree / NEW).unlink()
        (self.tree / EDITED).unlink()
        self.assertEqual(self.repository.apply(self.tree), 3)
        self.assertTrue(self.repository.status(self.tree))

    def test_git(self):
        self.commit_tree()
        write(self.tree / HEADER, "user's\n")
        self.fails(f"{HEADER}: has local changes, says git", "apply", self.tree)
        self.git("add", "-A")
        self.fails(f"{HEADER}: has local changes, says git", "apply", self.tree)
        self.git("commit", "-qm", "mine")
        write(self.tree / NEW, "user's\n")
        self.fails(f"{NEW}: .*git does not know it", "apply", self.tree)
        (self.tree / NEW).unlink()
        self.assertEqual(self.repository.apply(self.tree), len(LAID))

    def test_git_subdirectory(self):
        self.git("init", "-q", where=self.work)
        write(self.work / ".gitignore", "/tree/\n")
        write(self.tree / HEADER, "user's\n")
        self.repository.apply(self.tree)  # ignored by a git that is not the tree's
        self.repository.revert(self.tree)
        self.git("add", "-f", "tree", where=self.work)
        self.git("commit", "-qm", "all", where=self.work)
        write(self.tree / HEADER, "user's again\n")
        self.fails(f"{HEADER}: has local changes, says git", "apply", self.tree)

    def test_against_the_pristine_tree(self):
        self.repository.fetch(self.repository.pristine, tree=self.tree)
        write(self.tree / HEADER, "user's\n")
        self.fails(f"{HEADER}: has local changes", "apply", self.tree)
        write(self.tree / HEADER, "DPDK's\n", 0o640)
        write(self.tree / NEW, "user's\n")
        self.fails(f"{NEW}: has local changes, or is not DPDK's", "apply", self.tree)
        write(self.tree / "VERSION", "22.11.10\n")  # then the pristine tree says nothing
        before = snapshot(self.tree)
        with contextlib.redirect_stderr(io.StringIO()) as said:
            self.repository.apply(self.tree)
        self.assertIn("no pristine DPDK 22.11.10 to compare with", said.getvalue())
        self.repository.revert(self.tree)
        self.assertEqual(snapshot(self.tree), before)


class BadTargetTest(Case):
    """Trees that the patchset cannot be applied to."""

    def test_not_a_tree(self):
        for path, reason in ((self.work / "none", "no such directory"),
                             (self.work, "not a DPDK source tree"),
                             (self.root, "the patchset itself")):
            for command in ("apply", "status"):
                self.fails(f"{path}: .*{reason}", command, path)

    def test_version(self):
        for version in ("23.11.1", "22.110", "2.11", ""):
            write(self.tree / "VERSION", version)
            self.fails(f"tree: DPDK {version} is not supported", "apply", self.tree)
        write(self.tree / "VERSION", "22.11.3\n")
        self.repository.apply(self.tree)
        write(self.tree / "VERSION", "22.11.4\n")
        self.fails("is DPDK 22.11.4 now, but .* 22.11.3", "apply", self.tree)
        self.assertEqual(self.cli("status", self.tree).returncode, 1)
        self.repository.revert(self.tree)

    def test_pristine_stays_pristine(self):
        self.repository.fetch(self.repository.pristine, tree=self.tree)
        self.fails("stays pristine", "apply", self.repository.pristine)

    def test_in_the_way(self):
        (self.tree / "lib/pktcpy").symlink_to(self.work)
        self.fails("lib/pktcpy: is in the way", "apply", self.tree)
        (self.tree / "lib/pktcpy").unlink()
        (self.tree / NEW).mkdir(parents=True)
        self.fails(f"{NEW}: is in the way", "apply", self.tree)

    def test_not_writable(self):
        with mock.patch("os.access", return_value=False):
            with self.assertRaisesRegex(patchset.Error, "tree: not writable"):
                self.repository.apply(self.tree)
        self.assertFalse((self.tree / ".patchset").exists())

    def test_edit_and_file(self):
        write(self.root / EDITED)
        self.fails(f"{EDITED}: .*both", "apply", self.tree)

    def test_damaged_state(self):
        self.repository.apply(self.tree)
        write(self.tree / ".patchset/manifest.json", "{")
        for command in ("apply", "status", "revert"):
            self.fails("manifest.json: damaged", command, self.tree)

    def test_saved_original_is_gone(self):
        self.repository.apply(self.tree)
        (self.tree / ".patchset/pristine" / HEADER).unlink()
        self.fails(f"{HEADER}: the saved file is missing", "apply", self.tree)
        self.fails(f"{HEADER}: the saved file is missing", "revert", self.tree)


class FailureTest(Case):
    """Full disks, signals and kills at every step of a change."""

    below = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # many small files, fast

    def setUp(self):
        super().setUp()
        self.virgin = snapshot(self.tree)

    def update(self):
        """Change our files so that the next apply writes, restores, removes and makes."""
        (self.root / HEADER).unlink(missing_ok=True)
        (self.root / NEW).unlink(missing_ok=True)
        write(self.root / "lib/other/dir/file.h", "more\n")
        write(self.root / (EDITED + ".edit"), "@append\n+end\n")
        return lambda: self.repository.apply(self.tree)

    def changes(self):
        """Yield changes of the tree, each to be tried from the state that the others left."""
        yield lambda: self.repository.apply(self.tree)
        self.repository.apply(self.tree)
        yield lambda: self.repository.apply(self.tree, link=True)
        yield self.update()
        yield lambda: self.repository.revert(self.tree)

    @staticmethod
    def failing(function, count, effect):
        """Return function with an effect in place of its call number count."""
        def wrapper(*arguments, **more):
            wrapper.calls += 1
            if wrapper.calls == count:
                effect()
            return function(*arguments, **more)
        wrapper.calls = 0
        return wrapper

    def each_step(self, attempt):
        """Run attempt(change, name of an os function, count, before) until no call is left."""
        steps, saved = 0, self.work / "saved"
        for change in self.changes():
            shutil.copytree(self.tree, saved, symlinks=True)
            before = snapshot(saved, times=True)
            for name in ("replace", "link", "symlink", "chmod", "mkdir", "unlink", "rmdir"):
                count, more = 0, True
                while more:
                    count, steps = count + 1, steps + 1
                    more = attempt(change, name, count, before)
                    if snapshot(self.tree, times=True) != before:  # it went through
                        shutil.rmtree(self.tree)
                        shutil.copytree(saved, self.tree, symlinks=True)
            shutil.rmtree(saved)
        self.assertGreater(steps, 100)

    def test_error_at_any_step(self):
        def no_space():
            raise OSError(28, "No space left on device")

        def interrupted():
            raise KeyboardInterrupt

        def attempt(change, name, count, before):
            effect = (no_space, interrupted)[count % 2] if name == "replace" else no_space
            wrapper = self.failing(getattr(os, name), count, effect)
            with mock.patch(f"os.{name}", wrapper):
                try:
                    change()
                    failed = wrapper.calls >= count  # and it does not matter
                    self.assertNotEqual(snapshot(self.tree, times=True), before)
                except (patchset.Error, KeyboardInterrupt) as problem:
                    failed = True
                    self.assertEqual(snapshot(self.tree, times=True), before, (name, count))
                    if effect is no_space:
                        self.assertRegex(str(problem), "tree/.*No space left on device; the")
            return failed
        self.each_step(attempt)

    def test_killed_at_any_step(self):
        def attempt(change, name, count, before):
            killed = self.killed(change, name, count)
            with contextlib.redirect_stdout(io.StringIO()), \
                    contextlib.redirect_stderr(io.StringIO()):
                self.repository.status(self.tree)  # repairs
            if killed and snapshot(self.tree, times=True) != before:
                # no half: if the kill came after the last step, doing it again changes nothing
                after = snapshot(self.tree, times=True)
                with contextlib.suppress(patchset.Error):  # "not applied", of revert
                    change()
                self.assertEqual(snapshot(self.tree, times=True), after, (name, count))
            return killed
        self.each_step(attempt)

    def killed(self, change, name, count):
        """Run change in a process that dies at call number count of an os function."""
        child = os.fork()
        if not child:
            wrapper = self.failing(getattr(os, name), count, lambda: os._exit(9))
            with contextlib.suppress(BaseException), mock.patch(f"os.{name}", wrapper):
                change()
            os._exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9

    def test_killed_while_repairing(self):
        self.repository.apply(self.tree)
        change = self.update()
        before, count = snapshot(self.tree, times=True), 1
        while self.killed(change, "replace", count):
            repair = patchset.State(self.tree).recover
            for name in ("replace", "unlink"):
                for step in (1, 2, 3):
                    self.killed(repair, name, step)
            repair()
            self.assertEqual(snapshot(self.tree, times=True), before, count)
            count += 1
        self.assertGreater(count, 5)

    @unittest.skipUnless(os.geteuid() == 0, "needs root for a small file system")
    def test_disk_really_full(self):
        small = self.work / "small"
        small.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "none", small],
                          capture_output=True, check=False).returncode:
            self.skipTest("may not mount a small file system")
        self.addCleanup(subprocess.run, ["umount", small], check=True)
        self.tree = small / "tree"
        make_tree(self.tree)
        write(self.root / "lib/big.h", "x" * 1_000_000)
        self.fails("lib/big.h: No space left on device; the tree is left", "apply", self.tree)
        self.assertEqual(snapshot(self.tree), self.virgin)


class EditTest(Case):
    """Text edits."""

    def edit(self, text, data=b"a\n\tb \nc\na\n"):
        """Return data after a text edit."""
        return dpdk_edits.text_edit("x.edit", text.encode(), data)

    def test_verbs(self):
        self.assertEqual(self.edit("# why\n\n@before b\n+1\n@after b\n+ 2\n+\n@after b\n+3\n"
                                   "@replace c\n+4\n+5\n@append\n+6\n"),
                         b"a\n1\n\tb \n 2\n\n3\n4\n5\na\n6\n")
        self.assertEqual(self.edit("@append\n+end", b"\xe9\x0c no end"), b"\xe9\x0c no end\nend\n")
        self.assertEqual(self.edit("@before b\n+b\n@after b\n+c\n"), b"a\nb\n\tb \nc\nc\na\n")

    def test_mistakes(self):
        for text, place in (("@after b\n+x\nwhat\n", "x.edit:3: not"), ("+x\n", "x.edit:1: not"),
                            ("@after\n+x\n", "x.edit:1: not"),
                            ("@append\n\n+x\n", "x.edit:3: not"),
                            ("@after b\n", "x.edit:1: no .line"),
                            ("# nothing\n", "x.edit: no directive"),
                            ("@append x\n+x\n", "x.edit:1: not"), ("@middle b\n+x\n", "x.edit:1:"),
                            ("#\n@after d\n+x\n", "x.edit:2: .*0 times: d"),
                            ("@replace a\n+x\n", "x.edit:1: .*2 times: a"),
                            ("@replace c\n+x\n@replace c\n+y\n", "x.edit:3: .*already: c")):
            with self.subTest(text), self.assertRaisesRegex(patchset.Error, place):
                self.edit(text)

    def test_failure_reaches_the_user(self):
        write(self.root / (EDITED + ".edit"), "@after 'none.h',\n+x\n")
        self.fails(f"{EDITED}.edit:1: .*0 times", "apply", self.tree)
        write(self.root / "lib/none.c.edit", "@append\n+x\n")
        write(self.root / (EDITED + ".edit"), "@append\n+x\n")
        self.fails("lib/none.c: .*no such file", "apply", self.tree)

    def test_options(self):
        result = dpdk_edits.insert_options(OUR_OPTIONS, DPDK_OPTIONS.encode()).decode()
        ours = OUR_OPTIONS[OUR_OPTIONS.index("option('use"):]
        next_one = "option('use_hpet"
        self.assertEqual(result, DPDK_OPTIONS.replace(next_one, ours + next_one))
        last = "option('zz', yield: true, type: 'boolean')\n"
        self.assertEqual(dpdk_edits.insert_options(last, DPDK_OPTIONS.encode()).decode(),
                         DPDK_OPTIONS + last)
        early = "option('b', yield : true)"
        self.assertEqual(dpdk_edits.insert_options(early, b"option('c')\noption('a')\n"),
                         early.encode() + b"\noption('c')\noption('a')\n")
        write(self.tree / "meson_options.txt", DPDK_OPTIONS + ours)
        self.fails("meson_options.txt: .*use_cc_memcpy", "apply", self.tree)


class CocciTest(Case):
    """Semantic patches."""

    def cocci(self, text):
        """Bring a semantic patch for the tree's file."""
        write(self.root / (PATCHED + ".cocci"), text)

    def need_spatch(self):
        """Skip a test that cannot do without Coccinelle."""
        if not shutil.which("spatch"):
            self.skipTest("coccinelle is not installed")

    def test_sections_and_edit(self):
        self.need_spatch()
        self.cocci("// SPDX\n\n// changes 2 lines: copies\n" + RULE
                   + "// changes 1-9 lines: sees the first\n@@ @@\n do_data_copy_enqueue(...) {\n"
                     "<...\n-pktcpy\n+fastcpy\n (...)\n...>\n }\n"
                     "// changes 1 line: removes\n@@ @@\n-gone();\n")
        write(self.root / (PATCHED + ".edit"), "@replace fastcpy(vq->dst, vq->src,\n+\tlast(\n")
        self.repository.apply(self.tree)
        expected = VIRTIO_NET.replace("rte_memcpy(d,", "pktcpy(d,").replace("\tgone();\n", "") \
            .replace("rte_memcpy(vq->dst, vq->src,", "last(")
        self.assertEqual((self.tree / PATCHED).read_text(), expected)

    def test_counts(self):
        self.need_spatch()
        for count, says in (("3 lines", "must change 3 lines, changes 2"),
                            ("1 line", "must change 1 lines, changes 2"),
                            ("3-5 lines", "must change 3 to 5 lines, changes 2")):
            self.cocci(f"// Why\n// changes {count}: copies\n" + RULE)
            self.fails(f"{PATCHED}.cocci:2: {says} .copies", "apply", self.tree)
        self.cocci("// changes 2 lines: a\n" + RULE + "// changes 1 line: again\n" + RULE)
        self.fails(":6: must change 1 lines, changes 0 .again", "apply", self.tree)
        self.cocci("// changes 1-2 lines: copies\n" + RULE)
        self.succeeds("apply", self.tree)

    def test_mistakes(self):
        self.cocci(RULE)
        self.fails(f"{PATCHED}.cocci:1: no '// changes N", "apply", self.tree)
        self.cocci("// changes some lines: why\n")
        self.fails(f"{PATCHED}.cocci: no '// changes N", "apply", self.tree)
        self.cocci("// changes 2 lines: copies\n" + RULE)
        self.fails(f"{PATCHED}.cocci: .*install coccinelle", "apply", self.tree, PATH="")
        self.need_spatch()
        self.cocci("// changes 2 lines: copies\n@@ not SmPL\n")
        self.fails(f"{PATCHED}.cocci:1: spatch: ", "apply", self.tree)

    def test_runs_only_if_something_changed(self):
        self.need_spatch()
        self.cocci("// changes 2 lines: copies\n" + RULE)
        self.succeeds("apply", self.tree)
        self.succeeds("apply", self.tree, PATH="")
        self.succeeds("status", self.tree, PATH="")
        write(self.root / patchset.MACROS, (DEVTOOLS / "spatch-macros.h").read_text() + "\n")
        self.fails("install coccinelle", "apply", self.tree, PATH="")
        self.succeeds("apply", self.tree)
        write(self.tree / PATCHED, VIRTIO_NET)
        self.fails("install coccinelle", "apply", self.tree, PATH="")


class SourceCase(Case):
    """With a tarball of the tree."""

    def tarball(self, name="dpdk.tar.xz", members=(), version="22.11.11"):
        """Make a tarball of a tree, with more members [(TarInfo fields)]."""
        make_tree(self.work / "dpdk-22.11", version)
        with tarfile.open(self.work / name, "w:" + name.rsplit(".", 1)[1]) as archive:
            archive.add(self.work / "dpdk-22.11", "dpdk-22.11")
            for fields in members:
                member = tarfile.TarInfo()
                for field, value in fields.items():
                    setattr(member, field, value)
                archive.addfile(member)
        shutil.rmtree(self.work / "dpdk-22.11")
        return self.work / name

    def names(self, path=None):
        """Return what lies in a directory."""
        return sorted(os.listdir(path or self.work))


class FetchTest(SourceCase):
    """fetch from a tarball or tree."""

    def test_tarball(self):
        link = {"name": "dpdk-22.11/app/link", "type": tarfile.SYMTYPE, "linkname": "../VERSION"}
        target, tarball = self.work / "a/b", self.tarball(members=[link])
        self.assertIn("DPDK 22.11.11\n", self.succeeds("fetch", target, "--tarball", tarball))
        self.assertEqual((target / "app/link").read_text(), "22.11.11\n")
        (target / "app/link").unlink()
        (target / patchset.MARK).rename(self.work / "mark")
        for path in (HEADER, EDITED):
            (self.tree / path).chmod(0o644)
        self.assertEqual(snapshot(target), snapshot(self.tree))
        (self.work / "mark").rename(target / patchset.MARK)
        before = snapshot(target, times=True)
        self.assertIn("already", self.succeeds("fetch", target, "--tarball", tarball))
        self.assertEqual(snapshot(target, times=True), before)
        other = self.tarball("other.tar.gz", version="22.11.12")
        self.fails("holds DPDK from .*dpdk.tar.xz", "fetch", target, "--tarball", other)
        self.succeeds("fetch", target, "--tarball", other, "--force")
        self.assertEqual((target / "VERSION").read_text(), "22.11.12\n")
        self.assertEqual(self.names(self.work / "a"), ["b"])

    def test_leaves_what_is_not_its_own(self):
        tarball = self.tarball()
        for force in ([], ["--force"]):
            self.fails("tree: exists and was not made by fetch", "fetch", self.tree,
                       "--tarball", tarball, *force)
        (self.work / "empty").mkdir()
        self.succeeds("fetch", self.work / "empty", "--tarball", tarball)

    def test_bad_tarballs(self):
        before = self.names()
        name, link = "dpdk-22.11/x", {"type": tarfile.SYMTYPE}
        for members, says in (
                ([{"name": "../x"}], "a path that leads out"),
                ([{"name": "/x"}], "a path that leads out"),
                ([{"name": "dpdk-22.11/../../x"}], "a path that leads out"),
                ([{"name": name, **link, "linkname": "../x"}], "a link that leads out"),
                ([{"name": name, **link, "linkname": "/etc"}], "a link that leads out"),
                ([{"name": name, "type": tarfile.LNKTYPE, "linkname": "y"}], "not a source tar"),
                ([{"name": name, "type": tarfile.FIFOTYPE}], "not a source tarball"),
                ([{"name": "top"}], "not a source tarball")):
            tarball = self.tarball(members=members)
            self.fails(f"{tarball}: .*{says}", "fetch", self.work / "t", "--tarball", tarball)
        tarball = self.tarball(version="23.11")
        self.fails("DPDK 23.11 is not supported", "fetch", self.work / "t", "--tarball", tarball)
        with open(tarball, "r+b") as file:
            file.truncate(300)
        self.fails("dpdk.tar.xz: not a readable", "fetch", self.work / "t", "--tarball", tarball)
        self.fails("none: No such file", "fetch", self.work / "t", "--tarball", self.work / "none")
        tarball.unlink()
        self.assertEqual(self.names(), before)

    def test_nothing_is_written_through_links(self):
        members = [{"name": "dpdk-22.11/l", "type": tarfile.SYMTYPE, "linkname": "lib/../.."},
                   {"name": "dpdk-22.11/l/stolen"}]
        self.fails("", "fetch", self.work / "t", "--tarball", self.tarball(members=members))
        self.assertFalse((self.work / "stolen").exists())

    def test_tree(self):
        write(self.tree / ".git/config")
        write(self.tree / "build/meson-private/x")
        (self.tree / "link").symlink_to("VERSION")
        target = self.work / "copy"
        self.succeeds("fetch", target, "--tree", self.tree)
        self.assertEqual(set(snapshot(target)) - {patchset.MARK},
                         {path for path in snapshot(self.tree)
                          if not path.startswith((".git", "build"))})
        self.assertIn("already", self.succeeds("fetch", target, "--tree", self.tree))
        write(self.tree / HEADER, "changed")
        self.fails("--force replaces it", "fetch", target, "--tree", self.tree)
        self.fails("which is inside", "fetch", self.tree / "in/it", "--tree", self.tree)
        shutil.rmtree(self.tree / ".git")
        self.repository.apply(self.tree)
        self.fails("the patchset is applied to it", "fetch", self.work / "t", "--tree", self.tree)


class DistributionTest(SourceCase):
    """fetch from the distribution's source package."""

    APT = """#!/bin/sh
echo "$0 $*" >> {0}/apt.log
case "$*" in
*" update") echo 'E: one source is down' >&2; exit 100;;
*" showsrc dpdk") cat {0}/showsrc;;
*" source "*) cp {0}/dpdk_22.11.9.orig.tar.xz .;;
esac
"""
    SHOWSRC = """Package: dpdk
Binary: dpdk
Version: 24.11.1-1~bpo12+1

Package: dpdk
Format: 3.0
Version: 22.11.9-1

Package: other
Version: 22.11.99-1

Package: dpdk
Version: 22.11.10-0+deb12u1

"""

    def setUp(self):
        super().setUp()
        for name in ("apt-get", "apt-cache"):
            write(self.work / "bin" / name, self.APT.format(self.work), 0o755)
        write(self.work / "showsrc", self.SHOWSRC)
        self.tarball("dpdk_22.11.9.orig.tar.xz")
        self.path = f"{self.work}/bin:{os.environ['PATH']}"

    def calls(self):
        """Return how often apt ran."""
        log = self.work / "apt.log"
        return len(log.read_text().splitlines()) if log.exists() else 0

    def test_download_and_cache(self):
        result = self.cli("fetch", PATH=self.path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("one source is down", result.stderr)
        self.assertIn("dpdk=22.11.10-0+deb12u1\n", (self.work / "apt.log").read_text())
        self.assertEqual((self.calls(), dpdk_source.dpdk_version(self.repository.pristine)),
                         (3, "22.11.11"))
        shutil.rmtree(self.repository.pristine)
        self.succeeds("fetch", PATH=self.path)  # from our cache
        self.succeeds("fetch", PATH=self.path)  # it is there
        self.assertEqual(self.calls(), 3)
        shutil.rmtree(self.repository.pristine)
        write(self.root / "subprojects/packagecache/dpdk_22.11.9.orig.tar.xz", "damaged")
        self.succeeds("fetch", PATH=self.path)
        self.assertEqual(self.calls(), 6)
        self.succeeds("fetch", "--force", PATH=self.path)
        self.assertEqual(self.calls(), 9)

    def test_no_such_version(self):
        write(self.work / "showsrc", "Package: dpdk\nVersion: 24.11.1-1\n\n")
        self.fails("no DPDK 22.11.x, only 24.11.1-1: .*--tarball FILE or --tree DIR", "fetch",
                   PATH=self.path)
        write(self.work / "showsrc", "")
        self.fails("no DPDK 22.11.x, nor any other: .*--tarball", "fetch", PATH=self.path)
        self.assertEqual(self.names(self.root / "subprojects"), [".patchset.lock"])

    def test_no_apt(self):
        self.fails("no apt-get .*--tarball FILE or --tree DIR", "fetch", PATH="")

    def test_versions(self):
        self.assertEqual(dpdk_source.pick_version(self.SHOWSRC), "22.11.10-0+deb12u1")
        self.assertFalse(dpdk_source.is_supported("22.110-1"))

    def test_sources(self):
        write(self.work / "etc/sources.list", "# deb x\ndeb [arch=a b=c] U s main # c\n"
              "deb-src [arch=a b=c] U s main # c\n  deb\tV t\ndeb cdrom:[Debian] x\n")
        write(self.work / "etc/sources.list.d/a.list", "deb-src W u\n")
        write(self.work / "etc/sources.list.d/b.list.save", "deb X u\n")
        write(self.work / "etc/sources.list.d/c.sources", """# comment
Types: deb
# comment
URIs: U
Suites: s t
Signed-By:
 -----BEGIN
 .
 key

Types: deb deb-src
URIs: V
Enabled: no

types: deb
Enabled: yes
URIs: W

# only a comment

Types: deb
URIs: cdrom:[x]
""")
        self.assertEqual(dpdk_source.source_entries(self.work / "etc"), {
            "sources.list": "deb-src [arch=a b=c] U s main # c\ndeb-src V t\n",
            "a.list": "deb-src W u\n",
            "c.sources": "Types: deb-src\nURIs: U\nSuites: s t\nSigned-By:\n -----BEGIN\n .\n"
                         " key\n\nTypes: deb-src\nEnabled: yes\nURIs: W\n"})


class PrepareTest(SourceCase):
    """prepare, as the wrapper runs it."""

    def setUp(self):
        super().setUp()
        self.built = self.root / "subprojects/dpdk"

    def test_made_and_kept_up_to_date(self):
        tarball = self.tarball()
        self.assertIn(EDITED + ".edit\n", self.succeeds("prepare", "--source", tarball))
        self.assertTrue((self.built / HEADER).samefile(self.root / HEADER))
        before = snapshot(self.built, times=True)
        result = self.cli("prepare", "--source", tarball)
        self.assertEqual(result.stderr, "patchset: subprojects/dpdk: DPDK 22.11.11, up to date\n")
        self.assertEqual(snapshot(self.built, times=True), before)
        write(self.root / (EDITED + ".edit"), "@append\n+end\n")
        self.succeeds("prepare", "--source", tarball)
        self.assertTrue((self.built / EDITED).read_bytes().endswith(b"\nend\n"))
        write(self.built / HEADER.replace("rte_memcpy", "other"), "left over\n")
        other = self.tarball("other.tar.xz", version="22.11.12")
        self.succeeds("prepare", "--source", other)
        self.assertEqual((self.built / "VERSION").read_text(), "22.11.12\n")
        self.assertFalse((self.built / HEADER.replace("rte_memcpy", "other")).exists())
        self.succeeds("prepare", "--source", self.tree)
        self.assertTrue(self.repository.status(self.built))

    def test_without_a_source(self):
        self.fails("no apt-get", "prepare", PATH="")
        self.succeeds("fetch", "--tarball", self.tarball())
        self.succeeds("prepare", "--source", "", PATH="")  # what the user fetched will do
        self.succeeds("prepare", "--source", self.tree)
        self.fails("no apt-get", "prepare", PATH="")  # but not what another build asked for
        self.assertTrue(self.repository.status(self.built))

    def test_leaves_what_is_not_its_own(self):
        write(self.built / "mine")
        self.fails("subprojects/dpdk: exists and was not made", "prepare", "--source", self.tree)
        self.fails("none: No such file", "prepare", "--source", self.work / "none")

    def test_two_at_once(self):
        command = [sys.executable, TOOL, "--root", self.root, "prepare", "--source", self.tree]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        runs = [subprocess.Popen(command, **pipes) for _ in range(3)]
        said = [process.communicate()[1] for process in runs]
        self.assertEqual([process.returncode for process in runs], [0, 0, 0], said)
        self.assertEqual(sum("copying" in text for text in said), 1, said)
        self.assertTrue(self.repository.status(self.built))


class CommandLineTest(unittest.TestCase):
    """The command line itself."""

    def test_help(self):
        for command in ("fetch", "apply", "status", "revert", "prepare"):
            result = subprocess.run([TOOL, command, "--help"], capture_output=True, text=True,
                                    check=True)
            self.assertIn(f"Example: devtools/patchset {command} ", result.stdout)
        self.assertEqual(subprocess.run([TOOL, "apply"], capture_output=True,
                                        check=False).returncode, 2)


class RealSourceTest(unittest.TestCase):
    """This repository on the real DPDK."""

    def test_apply_and_revert(self):
        pristine = ROOT / "subprojects/dpdk-pristine"
        pristine = pathlib.Path(os.environ.get("DPDK_PRISTINE", pristine))
        if not pristine.is_dir():
            self.skipTest("no DPDK here: run devtools/patchset fetch, or set DPDK_PRISTINE")
        if not shutil.which("spatch"):
            self.skipTest("coccinelle is not installed")
        with tempfile.TemporaryDirectory() as work:
            tree = pathlib.Path(work, "dpdk")
            shutil.copytree(pristine, tree, symlinks=True)
            before = snapshot(tree)
            for command in ("apply", "status", "revert"):
                result = subprocess.run([TOOL, command, tree], capture_output=True, text=True,
                                        check=False)
                self.assertEqual(result.returncode, 0, result.stderr)
                if command == "apply":
                    self.assertIn("use_cc_memcpy", (tree / "meson_options.txt").read_text())
            self.assertEqual(snapshot(tree), before)


if __name__ == "__main__":
    unittest.main(buffer=True)
