# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Passes signals on to the pods, which Slurm sends on request (sbatch --signal=B:USR1@300)."""

from __future__ import annotations

import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from ..gate.clock import Clock
from ..gate.config import Refused
from ..gate.states import PODS
from .console import Console
from .pods import RUNNING, Pod
from .site import Grant
from .terminal import Session

PASSED_ON = (signal.SIGUSR1, signal.SIGUSR2)
AT_ONCE = 16
NAME = "signals"


class SignalSender:
    """Sends signals to the first process of pods, the user's program; without a handler it continues."""

    def __init__(self, grant: Grant, clock: Clock, console: Console) -> None:
        self._grant, self._clock, self._console = grant, clock, console

    def send(self, number: int, found: Sequence[Pod]) -> None:
        """Send a signal to all running pods, in the background."""
        running = [pod for pod in found if pod.state == RUNNING]
        threading.Thread(target=self._send, name=NAME, args=(signal.Signals(number).name, running), daemon=True).start()

    def _send(self, name: str, running: Sequence[Pod]) -> None:
        self._console.say(f"{name} goes on to the programs of {len(running)} pod{'s' if len(running) != 1 else ''}")
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for pod, trouble in zip(running, pool.map(partial(self.give, name), running)):
                if trouble:
                    self._console.say(f"{name} does not reach {pod.label}: {trouble}")

    def give(self, name: str, pod: Pod) -> str:
        """Send a signal to one pod; returns the error or ""."""
        path = f"{PODS.format(self._grant.namespace)}/{pod.name}"
        try:
            code = Session(self._grant, self._clock).run_detached(path, ("/bin/sh", "-c", f"kill -s {name[3:]} 1"))
        except (Refused, OSError) as err:
            return str(err)
        return "" if code == 0 else f"kill ended with {code}"
