# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm's HealthCheckProgram: slurm-health [--look]. Slurm runs it at intervals, and when slurmd starts.

File systems must be mounted and answer, munge must answer, and the GPUs must be those of health.json. A site's own
parts are the files NN-name of health.d; the output of a failing part is a finding.

A finding of two checks drains the node with that reason, unless it is drained or down already. The drain is lifted
when there is no finding any more; other drains stay. With --look the findings are only printed, and the exit code is 1.

Slurm itself sets a lost node down, for example after a power cut. If health.json says `returns`, this program resumes
it when there is no finding. Where the gate runs, the gate decides that.

With the part 50-state, which looks at the node's hardware, this program drains and lifts nothing. Instead
drawbridge-node-health writes the findings into the node's record, and Slurm's controller decides.

The first check after slurmd started also runs slurm-job-gpus: a crash may have cost an epilog.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import re
import shutil
import subprocess
import sys
import syslog
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

PLACE = Path("/etc/drawbridge/slurm")
RUN = Path("/run/drawbridge")
MOUNTS = Path("/proc/self/mounts")
ROOT = Path("/")
REASON = "drawbridge: health: "
PART = re.compile(r"[0-9]{2}-[A-Za-z0-9_-]+")
LOOKS = "50-state"
"""The part that prints one finding a line and looks twice by itself."""
FAULT = re.compile(r"^([0-9]{2}-[A-Za-z0-9_-]+: )(\[(?:node|user|fabric)(?: (?:reboot|repair))?\] )")
"""Whose fault it is, which a part may print before its finding, and a report has first."""
LISTING = ("sinfo", "--noheader", "--all", "--local", "--Format=StateComplete:0 ,Reason:0")
"""With --nodes=NAME slurmctld sends one record. For `scontrol show node NAME` it sends the table of all nodes."""
STATE = re.compile(r"\bState=(\S+)")
WHY = re.compile(r"\bReason=(.*?)(?: \[[^ ]+@[^ ]+\]|$)", re.MULTILINE)
LOST = ("Not responding", "Node unexpectedly rebooted")
"""Reasons that slurmctld itself gives a node. Such a node stays down until an administrator or a program resumes it."""
UNAVAILABLE = {"DRAIN", "DOWN", "FAIL", "MAINTENANCE"}
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LIMIT_S, BUDGET_S, ANSWER_S = 15.0, 40.0, 8.0
"""Limits of one command, of all commands, and of each of two answers of Slurm. Slurm kills this program after 60 s."""
LOOK_LIMIT_S, LOOK_BUDGET_S = 30.0, 100.0
"""With --look, which Slurm does not kill."""


class Unhealthy(Exception):
    """A finding, as a few words. `out` and `complaint` are what the command printed."""

    def __init__(self, text: str, out: str = "", complaint: str = "") -> None:
        super().__init__(text)
        self.out, self.complaint = out, complaint


def environment() -> dict[str, str]:
    """Slurm's variables, and HOME and LC_ALL."""
    return {"HOME": "/", **os.environ, "LC_ALL": "C"}


def run(argv: Sequence[str], limit_s: float, text: str = "", locks: Sequence[int] = ()) -> str:
    """The output of a command. Raises Unhealthy.

    A command that hangs in the kernel can't be killed: it stays and keeps its locks.
    """
    pipe, name, env = subprocess.PIPE, Path(argv[0]).name, environment()
    try:
        child = subprocess.Popen(
            argv, stdin=pipe, stdout=pipe, stderr=pipe, env=env, text=True, errors="replace", pass_fds=locks
        )
    except OSError as err:
        raise Unhealthy(f"{name} can't be run: {err.strerror}") from err
    try:
        out, complaint = child.communicate(text, timeout=limit_s)
    except subprocess.TimeoutExpired:
        child.kill()
        raise Unhealthy(f"{name} does not answer") from None
    if child.returncode:
        error = (complaint.strip() or out.strip() or f"exit code {child.returncode}").splitlines()[0]
        raise Unhealthy(f"{name}: {error}", out, complaint)
    return out


class Check:
    """One check of this node. `locks` is the directory of the locks, `budget_s` the limit of all commands together."""

    def __init__(self, locks: Path, limit_s: float, budget_s: float) -> None:
        self._locks, self._limit_s, self._end = locks, limit_s, time.monotonic() + budget_s

    def run(self, argv: Sequence[str], text: str = "", locks: Sequence[int] = ()) -> str:
        """The output of a command within the rest of the budget. Raises Unhealthy."""
        return run(argv, max(0.1, min(self._limit_s, self._end - time.monotonic())), text, locks)

    def mounted(self, path: str) -> None:
        """The file system is mounted and answers. While an earlier stat hangs, no other is started."""
        if path not in [line.split()[1] for line in MOUNTS.read_text().splitlines()]:
            raise Unhealthy(f"{path} is not mounted")
        with locked(self._locks / f"health{path.replace('/', '-')}.lock") as lock:
            try:
                self._wait_for(lock)
                self.run(["stat", "--file-system", path], locks=[lock])
            except Unhealthy as err:
                raise Unhealthy(f"{path} is mounted, but {err}") from err

    def _wait_for(self, lock: int) -> None:
        """Wait for another check, for example of a playbook. Raises Unhealthy if that one hangs."""
        end = min(time.monotonic() + self._limit_s, self._end)
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= end:
                    raise Unhealthy("an earlier check hangs") from None
                time.sleep(0.1)
            else:
                return

    def munge(self) -> None:
        """munge accepts its own credential."""
        self.run(["unmunge"], self.run(["munge", "--no-input"]))

    def gpus(self, wanted: int, files: str, listing: Mapping[str, Any]) -> None:
        """The number of GPUs is right, by device files, and by the driver if its tool is installed."""
        if "files" in listing:
            self.in_kernel(wanted, files, listing)
            return
        numbered = re.compile(re.escape(Path(files).name) + "[0-9]+")
        have = sum(bool(numbered.fullmatch(path.name)) for path in Path(files).parent.iterdir())
        if have != wanted:
            raise Unhealthy(f"{have} GPUs instead of {wanted}")
        tool = shutil.which(listing["command"][0], path=environment()["PATH"]) if wanted and listing else None
        if tool:
            found = layouts(self.run([tool, *listing["command"][1:]]), listing)
            if len(found) != wanted:
                raise Unhealthy(f"{len(found)} GPUs in the driver's list instead of {wanted}")
            if other := differences(found, listing.get("instances", [{}] * wanted)):
                raise Unhealthy("; ".join(other))
        elif listing and any(listing.get("instances", ())):
            raise Unhealthy(f"{listing['command'][0]} is not installed, so the instances of GPUs are not known")

    def in_kernel(self, wanted: int, files: str, listing: Mapping[str, Any]) -> None:
        """The kernel lists the right number of GPUs, and each GPU for jobs with its device file. No tool runs.

        Of some GPUs the driver makes more device files than it has GPUs, so they are not counted.
        """
        found = [
            match for path in sorted(ROOT.glob(listing["files"].lstrip("/"))) if (match := numbered(path, listing))
        ]
        if len(found) != wanted:
            raise Unhealthy(f"{len(found)} GPUs in the kernel's list instead of {wanted}")
        lost = [str(it) for it in listing["numbers"] if str(it) not in found or not Path(f"{files}{it}").exists()]
        if lost:
            raise Unhealthy(f"no GPU at {', '.join(files + it for it in lost)}")
        for place, mode in listing.get("modes", {}).items():
            seen = [text(path) for path in ROOT.glob(place.lstrip("/"))] or [""]
            if wrong := [one for one in seen if one != mode]:
                raise Unhealthy(f"{Path(place).name} is {wrong[0] or 'unknown'} instead of {mode} on {len(wrong)} GPUs")

    def state(self, part: Path) -> list[str]:
        """Findings of the part that looks at the hardware, with all the time that is left."""
        failure = ""
        for _attempt in range(2):
            try:
                run([str(part)], max(0.1, self._end - time.monotonic()))
            except Unhealthy as err:
                if lines := err.out.splitlines():
                    return lines
                failure = f"{part.name}: {err.complaint.strip().splitlines()[-1]}" if err.complaint else str(err)
            else:
                return []
        return [failure]

    def problems(self, place: Path, without: str = "") -> list[str]:
        """All findings, by health.json and by the parts in health.d, except the part of this name.

        A check with a finding runs once more, with twice the time, because a busy node may answer late.
        """
        wanted = json.loads((place / "health.json").read_text())
        tests: list[Callable[[], Any]] = [partial(self.mounted, path) for path in wanted["mounts"]]
        tests += [self.munge, partial(self.gpus, wanted["gpus"], wanted["gpu_files"], wanted.get("gpu_list", {}))]
        chosen = [part for part in parts(place / "health.d", wanted.get("parts", {})) if part.name != without]
        looks = [part for part in chosen if reports(place) and part.name == LOOKS]
        tests += [partial(self.run, [str(part)]) for part in chosen if part not in looks]
        with ThreadPoolExecutor(1) as pool:
            states = [pool.submit(self.state, part) for part in looks]
            doubtful = [test for test in tests if finding(test)]
            self._limit_s *= 2
            found = [found for test in doubtful if (found := finding(test))]
            found += [line for state in states for line in state.result()]
        return [FAULT.sub(r"\2\1", it, count=1) for it in found] if reports(place) else found


def layouts(out: str, listing: Mapping[str, Any]) -> list[dict[str, int]]:
    """Instances of each GPU in a driver's list, by profile. Their lines are below the line of their GPU."""
    found: list[dict[str, int]] = []
    for line in out.splitlines():
        instance = re.match(listing["instance"], line) if "instance" in listing else None
        if line.startswith(listing["line"]):
            found.append({})
        elif instance and found:
            found[-1][instance[1]] = found[-1].get(instance[1], 0) + 1
    return found


def differences(found: Sequence[Mapping[str, int]], wanted: Sequence[Mapping[str, int]]) -> list[str]:
    """What the instances of each GPU lack, and which are too many."""
    return [
        f"GPU {gpu} has {have.get(profile, 0)} instances of {profile} instead of {want.get(profile, 0)}"
        for gpu, (have, want) in enumerate(zip(found, wanted))
        for profile in sorted({*have, *want})
        if have.get(profile) != want.get(profile)
    ]


def numbered(path: Path, listing: Mapping[str, Any]) -> str:
    """The number of the device file of the GPU that a file is about; empty for a CPU, and for a file that is gone."""
    return next((line.split()[-1] for line in text(path).splitlines() if re.match(listing["line"], line)), "")


def text(path: Path) -> str:
    """A file of /sys; empty if it can't be read."""
    try:
        return path.read_text(errors="replace").strip()
    except OSError:
        return ""


@contextlib.contextmanager
def locked(file: Path) -> Iterator[int]:
    """An open lock file. Only root can open it, because any process that can open it could lock it."""
    handle = os.open(file, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(handle, 0o600)
        yield handle
    finally:
        os.close(handle)


def finding(test: Callable[[], Any]) -> str:
    """The finding of a test; empty for none."""
    try:
        test()
    except Unhealthy as err:
        return str(err)
    return ""


def parts(folder: Path, own: dict[str, str]) -> list[Path]:
    """The site's own parts; other names, such as a package manager's backups, are ignored.

    `own` are programs elsewhere by the names that they have as parts.
    """
    found = {path.name: path for path in folder.iterdir() if PART.fullmatch(path.name)} if folder.is_dir() else {}
    return [path for _unused, path in sorted({**found, **{name: Path(path) for name, path in own.items()}}.items())]


def record(node: str) -> tuple[set[str], str]:
    """The words of the node's state and its reason in Slurm. Raises Unhealthy.

    sinfo lists no node without a partition. slurmctld updates its count of used CPUs for the table of all nodes, not
    for one record. By an old count a node that is down looks mixed. A node that is down has a reason.
    """
    end = time.monotonic() + ANSWER_S
    base, _blank, why = run([*LISTING, f"--nodes={node}"], ANSWER_S).rstrip("\n").partition(" ")
    words, why = set(base.upper().split("+")), "" if why == "none" else why
    if base and not ("MIXED" in words and why):
        return words, why
    shown = run(["scontrol", "--oneliner", "show", "node", node], max(0.1, end - time.monotonic()))
    state, reason = STATE.search(shown), WHY.search(shown)
    words = set(re.split(r"[+*~#!%$@^-]+", state.group(1))) if state else UNAVAILABLE
    return words, reason.group(1) if reason else ""


def drain_or_resume(node: str, found: Sequence[str], returns: bool) -> None:
    """Drain the node, lift this program's own drain, or resume a lost node. Raises Unhealthy without Slurm's answer."""
    words, why = record(node)
    lost = returns and "DOWN" in words and "DRAIN" not in words and why in LOST
    own = "DRAIN" in words and why.startswith(REASON)
    if found and (lost or not words & UNAVAILABLE):
        text = f"{REASON}{'; '.join(found)}"
        run(["scontrol", "update", f"nodename={node}", "state=drain", f"reason={text}"], ANSWER_S)
        syslog.syslog(syslog.LOG_ERR, f"drained: {'; '.join(found)}")
    elif not found and (lost or own):
        verb = "resume" if returns and "DOWN" in words else "undrain"
        run(["scontrol", "update", f"nodename={node}", f"state={verb}"], ANSWER_S)
        syslog.syslog(syslog.LOG_INFO, f"{verb}: no finding; it was {'+'.join(sorted(words))}, {why}")


def tidy_once(program: Sequence[str], run_folder: Path) -> None:
    """Run `program` tidy once for each slurmd, which is the parent process. Raises Unhealthy."""
    stamp, slurmd = run_folder / "slurm-job-gpus", str(os.getppid())
    if stamp.exists() and stamp.read_text() == slurmd:
        return
    run([*program, "tidy"], ANSWER_S)
    stamp.write_text(slurmd)


def reports(place: Path) -> bool:
    """Whether Slurm's controller decides about this node's findings."""
    return (place / "health.d" / LOOKS).exists()


def report(found: Sequence[str], returns: bool) -> None:
    """Write the findings into the node's record, for Slurm's controller. Raises Unhealthy."""
    words = ["--returns"] if returns else []
    run(["drawbridge-node-health", "report", *words], 2 * ANSWER_S, "".join(f"{line}\n" for line in found))


def main() -> int:
    """Check, then act or print."""
    parser = argparse.ArgumentParser(prog="slurm-health")
    parser.add_argument("--look", action="store_true", help="only print the findings")
    parser.add_argument("--without", default="", metavar="PART", help="with --look: a part that does not run")
    parser.add_argument("--limit", type=float, metavar="SECONDS", help="for each command")
    parser.add_argument("--place", type=Path, default=PLACE, metavar="DIRECTORY", help="where health.json is")
    parser.add_argument("--run", type=Path, default=RUN, metavar="DIRECTORY", help="where locks are")
    parser.add_argument("--path", default=PATH, metavar="PATH", help="PATH of the programs, instead of slurmd's")
    options = parser.parse_args()
    os.environ["PATH"] = options.path
    node = os.environ.get("SLURMD_NODENAME", "")
    if not (options.look or node):
        parser.error("only Slurm runs it without --look")
    syslog.openlog("slurm-health", syslog.LOG_PID, syslog.LOG_DAEMON)
    options.run.mkdir(mode=0o755, exist_ok=True)
    if options.look:
        look = Check(options.run, options.limit or LOOK_LIMIT_S, LOOK_BUDGET_S)
        found = look.problems(options.place, options.without)
        print("; ".join(found))
        return int(bool(found))
    with locked(options.run / "slurm-health.lock") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return 0  # the earlier run still works; its older findings must not overwrite newer ones
        act(node, options.place, options.run, options.limit or LIMIT_S)
    return 0


def act(node: str, place: Path, run_folder: Path, limit_s: float) -> None:
    """Check, then change the node in Slurm or report to its controller."""
    found = Check(run_folder, limit_s, BUDGET_S).problems(place)
    wanted = json.loads((place / "health.json").read_text())
    returns = wanted.get("returns", False)
    try:
        if reports(place):
            report(found, returns)
        else:
            drain_or_resume(node, found, returns)
    except Unhealthy as err:
        syslog.syslog(syslog.LOG_ERR, f"not reported to Slurm: {'; '.join(found) or 'no findings'} ({err})")
    if "job_gpus" in wanted:
        with contextlib.suppress(Unhealthy):  # the program has logged it; the next check tries again
            tidy_once([wanted["job_gpus"], *wanted.get("job_gpus_options", ())], run_folder)


if __name__ == "__main__":
    sys.exit(main())
