# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`make schedules`: jobs and faults as seeds say, on the lab that scenario slurm_gate has built, and what came of them.

Without arguments all seeds that have not passed yet are played, some at a time: build/schedules keeps the list.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence

from lab.hosts.paths import REPOSITORY
from tests.schedules.plan import ALL_SEEDS, plan_of
from tests.schedules.play import Stage, judged, summary, told

FOLDER = REPOSITORY / "build/schedules"
PASSED = FOLDER / "passed.json"
TOGETHER = 10
"""Seeds that are played over each other, and judged together."""


def main(arguments: list[str]) -> int:
    """Play seeds; 0 if nothing was wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.schedules", description=__doc__)
    parser.add_argument("seeds", nargs="*", type=int, help="these seeds together, whatever has passed before")
    named = parser.parse_args(arguments).seeds
    FOLDER.mkdir(parents=True, exist_ok=True)
    seeds = named or remaining()
    batches = [seeds] if named else [seeds[at : at + TOGETHER] for at in range(0, len(seeds), TOGETHER)]
    failed = [batch for batch in batches if played(batch)]
    for batch in failed:
        print(f"failed; repeat it with: make schedules SEEDS='{' '.join(map(str, batch))}'")
    print(f"{len(seeds) - sum(map(len, failed))} of {len(seeds)} seeds passed")
    return 1 if failed else 0


def remaining() -> list[int]:
    """Seeds that have not passed yet; all of them once there are none."""
    done = set(json.loads(PASSED.read_text())) if PASSED.exists() else set()
    left = [seed for seed in ALL_SEEDS if seed not in done]
    return left or list(ALL_SEEDS)


def remember(seeds: Sequence[int]) -> None:
    """Keep that seeds have passed."""
    done = json.loads(PASSED.read_text()) if PASSED.exists() else []
    partial = PASSED.with_suffix(".partial")
    partial.write_text(json.dumps(sorted({*done, *seeds} if len(done) < len(ALL_SEEDS) else set(seeds))))
    partial.replace(PASSED)


def played(seeds: Sequence[int]) -> list[str]:
    """One batch; what was wrong. Its whole story goes to a file."""
    plans, begin = [plan_of(seed) for seed in seeds], time.monotonic()
    for plan in plans:
        print(plan, flush=True)
    stage = Stage()
    story = stage.play_all(plans)
    wrong = judged(plans, stage.diary, story)
    file = FOLDER / f"{seeds[0]}-{seeds[-1]}.txt"
    file.write_text("\n".join([*told(plans, stage.diary, story), *wrong, ""]))
    for sentence in wrong:
        print(f"  {sentence}")
    missed = [seed for seed, reached in stage.diary.reached.items() if not reached]
    print(f"  {'FAILED' if wrong else 'passed'} in {time.monotonic() - begin:.0f} s: {summary(story)}")
    print(f"  troubles that found no moment: {missed or 'none'}; {file.relative_to(REPOSITORY)}", flush=True)
    if not wrong:
        remember(seeds)
    return wrong


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
