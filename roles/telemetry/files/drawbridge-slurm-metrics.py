# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Metrics of Slurm for node_exporter's textfile collector: jobs of nodes, drains, queue, waits, scheduler.

A timer runs it as root on Slurm's controller. It calls scontrol, squeue and sdiag once each, and changes nothing. If
one of them gets no answer, the file says that slurmctld is silent, and nothing else.
"""

import argparse
import gc
import json
import os
import sys
import time
from pathlib import Path

# of the unit, for root alone; beside the modules host_files would see bytecode as a change
CACHE = os.environ.get("RUNTIME_DIRECTORY")
sys.pycache_prefix, sys.dont_write_bytecode = CACHE, not CACHE
sys.path.insert(0, str(Path(__file__).parents[1] / "lib/drawbridge-slurm-metrics"))

# these imports need the line above
from drawbridge.core.command import Command, tool  # noqa: E402
from drawbridge.core.converge import DeviceError  # noqa: E402
from drawbridge.telemetry import exposition, exposition_io, slurm_text  # noqa: E402
from drawbridge.telemetry.families import SLURM  # noqa: E402
from drawbridge.telemetry.slurm_note import Note, looked  # noqa: E402
from drawbridge.telemetry.slurm_samples import Look, samples, silent  # noqa: E402

PLACE = Path("/etc/drawbridge/slurm-metrics.json")
NOTE = Path("/var/lib/drawbridge/slurm-metrics.json")
METRICS = exposition.METRICS
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LIMIT_S = 20.0
"""For each tool."""
DONE, UNABLE = 0, 2


def look(slurm_user: str, limit_s: float) -> Look:
    """Slurm's present state. Raises DeviceError, or ValueError for a text without nodes."""
    run, now = Command(limit_s), time.time()
    texts = [run([tool(words[0]), *words[1:]]).out for words in (slurm_text.NODES, slurm_text.JOBS, slurm_text.SDIAG)]
    nodes, jobs, scheduler = slurm_text.nodes(texts[0]), slurm_text.jobs(texts[1]), slurm_text.scheduler(texts[2])
    return Look(nodes, jobs, scheduler, now, slurm_user)


def note_of(file: Path) -> Note:
    """What the last look left; an empty one without a readable file, with which all counters begin anew."""
    try:
        return Note.parse(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as err:
        print(f"counters begin anew: {err}", file=sys.stderr)
        return Note()


def keep(file: Path, note: Note) -> None:
    """Replace the note, for root alone. Raises OSError."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f".{file.name}.partial")
    partial.touch(mode=0o600)
    partial.write_text(note.text(), encoding="utf-8")
    partial.replace(file)


def measure(slurm_user: str, limit_s: float) -> None:
    """Look once, and write the file. Raises OSError."""
    try:
        seen = look(slurm_user, limit_s)
    except (DeviceError, ValueError) as err:
        print(f"slurmctld is silent: {err}", file=sys.stderr)
        exposition_io.write(METRICS, SLURM, exposition.text(silent()))
        return
    note = looked(note_of(NOTE), seen.jobs, seen.time)
    exposition_io.write(METRICS, SLURM, exposition.text(samples(seen, note.counts)))
    keep(NOTE, note)


def main() -> int:
    """Read the options and the configuration, and measure."""
    parser = argparse.ArgumentParser(prog="drawbridge-slurm-metrics", description="Write metrics of Slurm once.")
    parser.add_argument("--limit", type=float, default=LIMIT_S, metavar="SECONDS", help="for each of Slurm's tools")
    options = parser.parse_args()
    os.environ.update(slurm_text.ENVIRONMENT, PATH=PATH)
    gc.disable()  # it lives for a second, and makes many objects
    try:
        measure(json.loads(PLACE.read_text(encoding="utf-8"))["slurm_user"], options.limit)
    except (OSError, ValueError, LookupError, TypeError) as err:
        print(f"no metrics of Slurm: {type(err).__name__}: {err}", file=sys.stderr)
        return UNABLE
    return DONE


if __name__ == "__main__":
    sys.exit(main())
