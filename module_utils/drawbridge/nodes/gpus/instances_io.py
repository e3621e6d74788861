# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""This host's GPUs: their instances, read by one tool and made by another, and the slurmd that offers them."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from ...core import files
from ...core.command import Completed, Run, tool
from ...core.converge import DeviceError, Step
from ...core.daemon.io import held
from ...core.units import Unit
from ..scontrol import fields, state_flags
from ..use_io import NodeUse
from .instances_plan import DISABLE, DIVIDE, SLURMD, GpuInstances, NodeInstances, goals
from .instances_text import counted, has_instance, listed
from .vendor import Divider, Mode, Vendor

T = TypeVar("T")
STAMP = "/run/drawbridge/gpu-instances"
"""Written before GPUs are divided: a slurmd that started earlier offers other instances. A boot removes it."""
LOCK = "/run/drawbridge/slurm-dispatch.lock"
"""Held while a prolog or epilog runs."""
TRIES = 3
REGISTERS_S, PAUSE_S = 20.0, 0.5
"""Time for a slurmd that has started to register, and the interval of the looks."""
REBOOT = "reboot the drained node: its boot divides the GPUs before other programs open them"
RERUN = "reboot the drained node and run this again"


class Instances:
    """The GPUs of this host."""

    name = "GPUs"

    def __init__(
        self, vendor: Vendor, divider: Divider, want: NodeInstances, run: Run, feed: Callable[[str], Run]
    ) -> None:
        """`feed` makes a function that runs a tool with this input."""
        self._vendor, self._divider, self._want = vendor, divider, want
        self._run, self._feed = run, feed
        self.find, self.stamp, self.lock = tool, STAMP, LOCK
        """How a tool is found, and where files are; tests replace them."""
        self.restarted: Callable[[], object] = str
        """Called after a restart of slurmd."""
        self._found = want

    def read(self) -> NodeInstances:
        """Instances and modes of the GPUs. Raises DeviceError.

        Where no instance is wanted, none exists and none was made since the boot, one command runs. All other texts are
        left to the hardware check.
        """
        text, failed = self._listing()
        whole = NodeInstances((GpuInstances(),) * counted(text, self._vendor))
        idle = not self._want.gpus and not has_instance(text, self._vendor) and not Path(self.stamp).exists()
        if idle or (failed and "rc" in failed.details and len(whole.gpus) < len(self._want.gpus)):
            self._found = whole
        elif failed:
            raise failed
        else:
            self._found = self._with_units(self._divided(text))
        return self._found

    def apply(self, steps: Sequence[Step[NodeInstances]]) -> None:
        """Divide all GPUs at once, between the steps of units. Raises DeviceError."""
        for verb, unit in dict.fromkeys(step.payload for step in steps):
            if verb == DIVIDE:
                self._divide()
            elif verb == DISABLE:
                Unit(unit, self._run).do("disable")
            else:
                Unit(unit, self._run).do("restart")
                self.restarted()

    def _listing(self) -> tuple[str, DeviceError | None]:
        """The driver's list. A tool that fails may have printed a part of it."""
        try:
            return self._run(list(self._vendor.listing)).out, None
        except DeviceError as err:
            return str(err.details.get("stdout", "")), err

    def _divided(self, text: str) -> NodeInstances:
        layouts = self._known(lambda: listed(text, self._vendor), text)
        modes = self._modes()
        if len(modes) != len(layouts):
            raise DeviceError(f"the driver's list has {len(layouts)} GPUs, but modes of {len(modes)}", stdout=text)
        return NodeInstances(tuple(GpuInstances(layout, mode) for layout, mode in zip(layouts, modes)))

    def _with_units(self, found: NodeInstances) -> NodeInstances:
        other, slurmd = Unit(self._divider.unit, self._run), Unit(SLURMD, self._run).read()
        return replace(
            found,
            other_unit=other.name if other.read().enabled else "",
            missing=self._missing(),
            stays_whole=self._divider.stays_whole,
            stale=slurmd.active and files.changed_s(self.stamp) > slurmd.started_s,
            runs_slurmd=slurmd.active,
            held=held(self.lock) if slurmd.active else "",
        )

    def _modes(self) -> Sequence[Mode]:
        text = self._run(list(self._divider.modes)).out
        return self._known(lambda: self._divider.read_modes(text), text)

    def _known(self, reading: Callable[[], Sequence[T]], text: str) -> Sequence[T]:
        """What a text says. Raises DeviceError for a text that is not known."""
        try:
            return reading()
        except ValueError as err:
            raise DeviceError(f"{self._vendor.listing[0]} printed an unknown line: {err}", stdout=text) from err

    def _missing(self) -> str:
        try:
            self.find(self._divider.program)
        except DeviceError as err:
            return f"{err}; install {self._divider.package}"
        return ""

    def _divide(self) -> None:
        """Apply the configuration, then let the tool compare: it may succeed without effect."""
        self._note()
        run = self._feed(self._divider.configuration(goals(self._found, self._want)))
        program = self.find(self._divider.program)
        try:
            self._try(lambda: run([program, *self._divider.apply]))
            self._compare(run, program)
        except DeviceError as err:
            raise self._explained(err) from err

    def _try(self, call: Callable[[], Completed]) -> None:
        """Call the tool until it succeeds, some times.

        A call that was killed leaves parts of instances. The next one stumbles over them, removes them and fails.
        """
        for left in reversed(range(TRIES)):
            try:
                call()
            except DeviceError as err:
                if not left or "rc" not in err.details or self._in_use(err) or self._waiting():
                    raise
            else:
                return

    def _note(self) -> None:
        try:
            Path(self.stamp).parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            Path(self.stamp).write_text("")
        except OSError as err:
            raise DeviceError(f"{self.stamp} can't be written: {err.strerror}") from err

    def _compare(self, run: Run, program: str) -> None:
        try:
            run([program, *self._divider.check])
        except DeviceError as err:
            done = f"{self._divider.program} reported success, but the GPUs differ by its own check"
            raise DeviceError(f"{done}: {err}", **err.details) from err

    def _in_use(self, err: DeviceError) -> bool:
        printed = (str(err.details.get(stream, "")) for stream in ("stdout", "stderr"))
        return any(re.search(self._divider.in_use, text) for text in printed)

    def _explained(self, err: DeviceError) -> DeviceError:
        """The same error with its cause and what to do."""
        end = REBOOT if self._want.gpus else RERUN
        if waiting := self._waiting():
            return DeviceError(
                f"the mode of GPU {waiting} changes at its next reset only; {end} ({err})", **err.details
            )
        if self._in_use(err):
            holders = self._divider.holders
            return DeviceError(
                f"a program holds a GPU, so it can't be divided; stop it ({holders} may hold one), or {end} ({err})",
                **err.details,
            )
        return err

    def _waiting(self) -> str:
        """GPUs whose mode has not changed yet; empty if their modes can't be read."""
        try:
            pairs = zip(self._modes(), goals(self._found, self._want))
        except DeviceError:
            return ""
        waits = [mode.now != bool(goal) == mode.later for mode, goal in pairs]
        return ", ".join(str(index) for index, waiting in enumerate(waits) if waiting)


class Slurm:
    """Slurm on this node, which decides when its GPUs may be divided."""

    def __init__(self, run: Run, name: str) -> None:
        self._run, self._name = run, name

    def in_use(self) -> str:
        """Why GPUs must not be divided now; empty for a drained node without jobs, and one without slurmd or jobs.

        Before its first start a node has no configuration, so Slurm's commands have no answer.
        """
        state, use = Unit(SLURMD, self._run).read(), NodeUse(self._run, self._name)
        if state.active or state.starting:
            return use.busy() or use.undrained("gpus")
        return use.pod() or self._steps()

    def at_boot(self) -> str:
        """The same before slurmd starts. Logs of pods are still those of the last boot."""
        state = Unit(SLURMD, self._run).read()
        if state.active:
            return f"{SLURMD} runs; drain the node and run the playbook"
        return self._steps()

    def registered(self) -> None:
        """Wait until Slurm has the node's new instances, for a while: it refused the old ones (INVALID_REG)."""
        deadline = time.monotonic() + REGISTERS_S
        with contextlib.suppress(DeviceError):
            while time.monotonic() < deadline:
                shown = fields(self._run(["scontrol", "show", "node", self._name, "-o"]).out)
                if "INVALID_REG" not in state_flags(shown)[1]:
                    return
                time.sleep(PAUSE_S)

    def _steps(self) -> str:
        running = self._run(["pgrep", "-x", "slurmstepd"], ok=(0, 1)).out
        return "a Slurm job is on this node, although slurmd does not run" if running else ""
