# SPDX-License-Identifier: BSD-3-Clause
# Copyright(c) 2026 The dpdk-memcpy authors
"""Are packets that vhost has copied twice still what they were?"""

import itertools

from vhost_loop import LoopError
from vhost_loop.report import align, variant_name
from vhost_loop.testpmd import VERIFY_SIZE, Pair

PACKETS = 10 ** 8
FAULTS = ("lost", "reordered", "corrupted")
COLUMNS = ("core", "ring", "variant", "packets", *FAULTS)


def find_guest(builds, placement, ring, huge, run_dir):
    """Return the first build that has the forwarding engine that checks packets."""
    for build in builds:
        with Pair(build, placement, ring, huge, run_dir) as pair:
            if pair.can_verify():
                return build
    raise LoopError("--verify needs a build that has the patchset, for its forwarding engine "
                    "verify: there is none among " + ", ".join(build.name for build in builds))


def verify_all(args, placements, huge, run_dir, find_variants, show):
    """Send packets through each variant, on each kind of core and ring; return one row each."""
    guest = find_guest(args.build, placements[0], args.rings[0], huge, run_dir)
    rows = []
    for where, ring, build in itertools.product(placements, args.rings, args.build):
        try:
            with Pair(build, where, ring, huge, run_dir, guest) as pair:
                pair.check_verify()
                for name, mode in find_variants(args, [pair]):
                    if mode:
                        pair.set_copy_mode(mode)
                    row = {"core": where.kind, "ring": ring, "build": name, "mode": mode}
                    counts = pair.verify(args.verify, show=lambda received, row=row: show(
                        f"{variant_name(row)}, {row['ring']}: {received} of {args.verify} packets"))
                    rows.append(dict(row, packets=counts.right, wanted=args.verify, **{
                        fault: getattr(counts, fault) for fault in FAULTS}))
        except LoopError as error:
            raise LoopError(f"{build.name}: {error}") from None
    return rows


def is_right(row):
    """Tell whether all packets came as they were sent."""
    return row["packets"] >= row["wanted"] and not any(row[fault] for fault in FAULTS)


def lines(rows):
    """Return the table, and the line that says how it went."""
    table = [COLUMNS] + [(row["core"], row["ring"], variant_name(row),
                          *(str(row[name]) for name in COLUMNS[3:])) for row in rows]
    wrong = [row for row in rows if not is_right(row)]
    total = sum(row["packets"] for row in rows)
    if not wrong:
        last = (f"verify: ok, {total} packets of 24 to {VERIFY_SIZE} bytes, "
                "none lost, reordered or corrupted")
    else:
        counts = ", ".join(f"{sum(row[fault] for row in wrong)} {fault}" for fault in FAULTS)
        last = f"verify: FAILED in {len(wrong)} of {len(rows)} variants: {counts}, {total} right"
    return ["", *align(table, range(3, len(COLUMNS))), "", last]
