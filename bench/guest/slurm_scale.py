# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Runs on the lab's controller, in namespaces of its own: a slurmctld on given files, and how fast it answers.

bench/slurm_scale.py sends this text with a last line that calls main().
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

CALLS = 20
PATIENCE_S = 120
ALONE = {"LC_ALL": "C", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def run(*argv: str, env: dict[str, str] | None = None) -> str:
    """Run a command; leave with what it said when it fails."""
    done = subprocess.run(argv, env=env or ALONE, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(argv)}: {done.stdout}{done.stderr}")
    return done.stdout


def taken(*argv: str, env: dict[str, str]) -> float:
    """Seconds that a command takes."""
    begun = time.monotonic()
    run(*argv, env=env)
    return time.monotonic() - begun


def reconfigured(conf: Path, env: dict[str, str]) -> float:
    """Seconds from a change of the file until slurmctld itself says that it runs with it."""
    with conf.open("a") as file:
        file.write("# changed\n")
    begun = time.monotonic()
    run("scontrol", "reconfigure", env=env)
    while time.monotonic() - begun < PATIENCE_S:
        told = subprocess.run(
            ["scontrol", "show", "config"], env=env, capture_output=True, text=True, check=False
        ).stdout
        if any(line.split()[-1] == "Match" for line in told.splitlines() if line.startswith("HASH_VAL")):
            return time.monotonic() - begun
        time.sleep(0.05)
    raise SystemExit("slurmctld did not take the changed file")


def peak_kib(daemon: subprocess.Popen[bytes]) -> int:
    """The most memory that a process held; it has handed over to its successor, or ends now."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(daemon.pid, signal.SIGKILL)
    return os.wait4(daemon.pid, 0)[2].ru_maxrss


def main(texts: dict[str, str], names: list[str], address: str) -> None:
    """Print the measured values. `names` are the nodes, which all resolve, as in a machine room."""
    folder = Path(tempfile.mkdtemp(prefix="slurm-scale-", dir="/run"))
    (folder / "state").mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text.replace("SCRATCH", str(folder)))
    hosts = "".join(
        f"10.{number >> 16}.{number >> 8 & 255}.{number & 255} {name}\n" for number, name in enumerate(names)
    )
    (folder / "hosts").write_text(f"127.0.0.1 localhost\n{hosts}")
    run("mount", "--bind", str(folder / "hosts"), "/etc/hosts")
    run("ip", "address", "add", f"{address}/32", "dev", "lo")
    run("ip", "link", "set", "lo", "up")
    run("chown", "-R", "slurm:slurm", str(folder))
    env = {**ALONE, "SLURM_CONF": str(folder / "slurm.conf")}
    log = (folder / "log").open("w")
    as_slurm = ["setpriv", "--reuid", "slurm", "--regid", "slurm", "--init-groups"]
    begun = time.monotonic()
    daemon = subprocess.Popen(
        [*as_slurm, "slurmctld", "-D", "-i", "-f", env["SLURM_CONF"]], stdin=subprocess.DEVNULL, stdout=log, stderr=log
    )
    while "Running as primary controller" not in (folder / "log").read_text():
        if daemon.poll() is not None or time.monotonic() - begun > PATIENCE_S:
            raise SystemExit((folder / "log").read_text()[-2000:])
        time.sleep(0.02)
    start_s = time.monotonic() - begun
    run("scontrol", "ping", env=env)
    calls = sorted(taken("squeue", "--noheader", env=env) for _ in range(CALLS))
    known = run("sinfo", "--noheader", "--partition", "hpc", "--format", "%D", env=env).split()
    reconfigure_s = reconfigured(folder / "slurm.conf", env)
    measured = {"start_s": start_s, "squeue_s": calls[CALLS // 2], "reconfigure_s": reconfigure_s}
    print(json.dumps({**measured, "peak_mib": peak_kib(daemon) / 1024, "nodes": sum(map(int, known))}))
