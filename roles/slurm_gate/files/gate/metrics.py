# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Metrics for node_exporter's textfile collector: counted events of all runs, and this host's state.

Every run adds to a note. Only the timer writes the file, since PrologSlurmctld's user may not.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from .gate_names import OPENER
from .world import World

NOTE = "metrics"
LOCK = 1 << 40  # no job has this number
PREFIX = "drawbridge_gate_"
HELP = {
    "events_total": ("counter", "What the gate did or refused on this host, by the name in its log."),
    "seconds_total": ("counter", "Time that the gate's verbs took on this host."),
    "runs_total": ("counter", "Runs of the gate's verbs on this host, by exit code."),
    "node_state": ("gauge", "1 for the present state of this host's node, 0 for the others."),
    "policies_in_force": ("gauge", "1 if the admission policies are those that gate.yml left, else 0."),
    "reconciled_timestamp_seconds": ("gauge", "Time of the last reconciliation without an error; 0 if none was."),
}
RECONCILED = "reconciled_timestamp_seconds"
ZEROS = {'events_total{event="crashed"}': 0.0}
OPENER_ZEROS = {'runs_total{verb="open",code="1"}': 0.0}
"""Counters that alerts compare with earlier: without a zero, the first event would be no increase."""


def add(world: World, verb: str, code: int, took_s: float) -> None:
    """Add one run to the note."""
    with world.notes.locked(LOCK):
        note = world.notes.read(NOTE)
        for name, value in world.log.counted.items():
            _plus(note, f'events_total{{event="{name}"}}', value)
        _plus(note, f'seconds_total{{verb="{verb}"}}', round(took_s, 3))
        _plus(note, f'runs_total{{verb="{verb}",code="{code}"}}', 1)
        world.notes.write(NOTE, note)


def publish(world: World, gauges: Mapping[str, float]) -> None:
    """Replace the file. A failure is logged and fails nothing else."""
    file = Path(world.config.metrics)
    zeros = {**ZEROS, **(OPENER_ZEROS if world.token(OPENER).exists() else {})}
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_name(f".{file.name}.partial")
        partial.write_text(text({RECONCILED: reconciled(file), **zeros, **world.notes.read(NOTE), **gauges}))
        partial.chmod(0o644)
        partial.rename(file)
    except OSError as err:
        world.log.event("metrics not written", file=str(file), cause=str(err))


def reconciled(file: Path) -> float:
    """When the last reconciliation without an error was, by the file that it wrote; 0 without one since the boot.

    The alert compares it with the present time, so a failing run must not remove it.
    """
    lines = file.read_text().splitlines() if file.is_file() else []
    found = [line.split()[1] for line in lines if line.startswith(f"{PREFIX}{RECONCILED} ")]
    return float(found[0]) if found else 0.0


def text(values: Mapping[str, float]) -> str:
    """The file's text: families in the order of HELP, each with its samples."""
    lines = []
    for family, (kind, meaning) in HELP.items():
        samples = sorted((name, value) for name, value in values.items() if name.split("{")[0] == family)
        if samples:
            lines += [f"# HELP {PREFIX}{family} {meaning}", f"# TYPE {PREFIX}{family} {kind}"]
            lines += [f"{PREFIX}{name} {value:.15g}" for name, value in samples]
    return "\n".join(lines) + "\n"


def _plus(note: dict[str, float], name: str, value: float) -> None:
    note[name] = round(note.get(name, 0) + value, 3)
