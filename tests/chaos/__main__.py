# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`make chaos`: cut runs off where seeds say, then let the next run end well and the third change nothing.

Without arguments all seeds that have not passed yet are tried, the others another time: build/chaos keeps the list.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from lab.hosts.paths import REPOSITORY
from tests.chaos.lab import Broken, Lab
from tests.chaos.plan import ALL_SEEDS, BARE, DRIFTS, SITE, Plan, plan_of
from tests.chaos.proofs import faults

FOLDER = REPOSITORY / "build/chaos"
PASSED = FOLDER / "passed.json"
PUT_OFF = "to be done by a later run"
"""How a module says that it waits for something."""


def main(arguments: list[str]) -> int:
    """Try seeds; 0 if all of them passed."""
    options = parsed(arguments)
    seeds = options.seeds or remaining()[: options.next]
    lab = Lab(FOLDER)
    lab.up()
    failed = []
    try:
        for seed in seeds:
            if trial(lab, plan_of(seed)):
                failed.append(seed)
            elif not options.seeds:
                remember(seed)
    finally:
        if not options.keep:
            lab.command("down")
    for seed in failed:
        print(f"seed {seed} failed; repeat it with: LAB_ID={lab.paths.lab_id} {sys.executable} -m tests.chaos {seed}")
    print(f"{len(seeds) - len(failed)} of {len(seeds)} seeds passed")
    return 1 if failed else 0


def parsed(arguments: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("seeds", nargs="*", type=int, help="these seeds, whatever has passed before")
    parser.add_argument("--next", type=int, help="so many of those that have not passed yet")
    parser.add_argument("--keep", action="store_true", help="leave the lab up at the end")
    return parser.parse_args(arguments)


def remaining() -> list[int]:
    """Seeds that have not passed yet; all of them once there are none."""
    done = set(json.loads(PASSED.read_text())) if PASSED.exists() else set()
    left = [seed for seed in ALL_SEEDS if seed not in done]
    if not left:
        PASSED.unlink()
    return left or list(ALL_SEEDS)


def remember(seed: int) -> None:
    """Keep that a seed has passed."""
    done = json.loads(PASSED.read_text()) if PASSED.exists() else []
    partial = PASSED.with_suffix(".partial")
    partial.write_text(json.dumps(sorted({*done, seed})))
    partial.replace(PASSED)


def trial(lab: Lab, plan: Plan) -> list[str]:
    """One case from its start to its proofs; its failures, if any."""
    print(f"{plan}", flush=True)
    start = time.monotonic()
    try:
        found = attempt(lab, plan)
    except Broken as error:
        found = [f"the lab: {error}"]
    lab.converged = not found
    for sentence in found:
        print(f"  {sentence}")
    print(f"  {'FAILED' if found else 'passed'} in {time.monotonic() - start:.0f} s", flush=True)
    return found


def attempt(lab: Lab, plan: Plan) -> list[str]:
    """Start state, the run that is cut off, the run that repairs, the run that changes nothing, the proofs."""
    begin(lab, plan)
    if plan.death:
        lab.arm(plan.death)
    cut = lab.run(plan.playbooks, f"{plan.seed}-1.log", plan.kill)
    print(f"  {how_it_ended(cut.code, cut.output)}", flush=True)
    if plan.kill and not cut.killed:
        return [f"the first run was over before it could be killed: see {FOLDER}/{plan.seed}-1.log"]
    if plan.death and not lab.disarm(plan.death):
        return ["nobody called the tool that was to die"]
    second = lab.run(plan.playbooks, f"{plan.seed}-2.log")
    if plan.waits_for_slurm and PUT_OFF in second.output:
        print("  the next run put a port off until Slurm answers", flush=True)
        second = lab.run(plan.playbooks, f"{plan.seed}-2-again.log")
    if second.code:
        return [f"the next run ended with {second.code}: see {FOLDER}/{plan.seed}-2.log", *fatal(second.output)]
    third = lab.run(plan.playbooks, f"{plan.seed}-3.log")
    if third.code:
        return [f"the third run ended with {third.code}: see {FOLDER}/{plan.seed}-3.log", *fatal(third.output)]
    changed = [f"the third run changed {what}" for what in third.changes()]
    return [*changed, *(third.report() if changed else ()), *faults(lab)]


def begin(lab: Lab, plan: Plan) -> None:
    """Make the state that the case starts from, whatever was before."""
    if plan.start == BARE:
        lab.bare()
        return
    if not lab.converged and lab.run(SITE, f"{plan.seed}-0.log").code:
        lab.bare()
        log = f"{plan.seed}-bare.log"
        whole = lab.run(SITE, log)
        if whole.code:
            raise Broken(f"the site can't be built at all: {FOLDER}/{log} {' '.join(fatal(whole.output))}")
    lab.converged = False
    for name in plan.drifts:
        drift = DRIFTS[name]
        done = lab.sh(drift.host, drift.command)
        if done.returncode:
            raise Broken(f"drift {name} on {drift.host}: {done.stdout[-500:]}{done.stderr[-500:]}")


def how_it_ended(code: int, output: str) -> str:
    """Where the first run was when it ended."""
    names = [line for line in output.splitlines() if line.startswith(("TASK ", "fatal: "))]
    return f"the first run ended with {code} at: {names[-1][:160] if names else 'its start'}"


def fatal(output: str) -> list[str]:
    """What Ansible says went wrong, shortened."""
    words = ("fatal: ", "msg:", "[ERROR]")
    return [line[:1000] for line in output.splitlines() if any(word in line for word in words)]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
