# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Slurm, with the rights of the person who calls. What does not answer is a note, and gets no further call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..budget import usage
from ..gate.command import NO_ANSWER, Commands
from . import slurm_text
from .model import Account, Waiting
from .month import Month
from .slurm_text import Hours, Run

LIMIT_S = 20.0
LONG_S = 120.0
"""Of the commands that add up or list the jobs of a month."""
AT_ONCE = 1000
"""Names in one command."""
DAEMONS = {"scontrol": "slurmctld", "squeue": "slurmctld"}
"""The daemon behind a command; the others read slurmdbd."""


class Slurm:
    """One look. Answers are None where Slurm gives none."""

    def __init__(self, commands: Commands, cluster: str, person: str, is_root: bool) -> None:
        self._commands, self._cluster, self._person = commands, cluster, person
        self._silent: set[str] = set()
        self._sees_all: bool | None = True if is_root else None
        self.notes: list[str] = []

    @property
    def blind(self) -> bool:
        """Whether a part did not answer."""
        return bool(self._silent)

    def sees_all(self) -> bool:
        """Whether the person is root, or an operator or administrator of Slurm's accounting."""
        if self._sees_all is None:
            self._sees_all = slurm_text.sees_all(self._out(slurm_text.level(self._person)) or "")
        return self._sees_all

    def hides(self, *words: str) -> str:
        """A note if PrivateData hides from this person what these words name; "" if it does not."""
        if self.sees_all():
            return ""
        private = slurm_text.hidden(self._out(slurm_text.CONFIGURATION) or "") & {*words}
        shown = ",".join(sorted(private))
        return f"PrivateData={shown}: Slurm shows you your own use and jobs, not those of others" if private else ""

    def own(self) -> frozenset[str] | None:
        """The person's accounts."""
        out = self._out(slurm_text.own(self._cluster, self._person))
        return None if out is None else slurm_text.names(out)

    def accounts(self, names: Sequence[str] = (), people: bool = True) -> dict[str, Account] | None:
        """Accounts by name: these, or all without names and with very many."""
        few = names if len(names) <= AT_ONCE else ()
        out = self._out(slurm_text.associations(self._cluster, few, people))
        return None if out is None else slurm_text.accounts(out)

    def usage(self, services: Sequence[str]) -> dict[str, usage.Usage]:
        """Use of budgets, by QOS, as slurmctld counts it."""
        found: dict[str, usage.Usage] = {}
        for part in _parts(services):
            found.update(usage.parsed(self._out(usage.command(part)) or ""))
        return found

    def jobs(self, account: str) -> list[Waiting] | None:
        """Its jobs that wait or run."""
        out = self._out(slurm_text.waiting(account))
        return None if out is None else slurm_text.parsed_waiting(out)

    def hours(self, month: Month, account: str = "") -> Mapping[str, Mapping[str, Hours]] | None:
        """Use in a month, by account and user; without an account, of all."""
        found: dict[str, dict[str, Hours]] = {}
        for window in month.windows():
            out = self._out(slurm_text.use(window, account), LONG_S)
            if out is None:
                return None
            for name, users in slurm_text.used(out).items():
                had = found.setdefault(name, {})
                had.update({user: had.get(user, Hours()).plus(one) for user, one in users.items()})
        return found

    def runs(self, month: Month, account: str) -> list[Run] | None:
        """Runs of its jobs in a month."""
        out = self._out(slurm_text.runs(account, (month.first.isoformat(), month.after.isoformat())), LONG_S)
        return None if out is None else slurm_text.parsed_runs(out)

    def _out(self, argv: Sequence[str], limit_s: float = LIMIT_S) -> str | None:
        """The output of a command; None, with a note, if its daemon does not answer, or did not before."""
        daemon = DAEMONS.get(argv[0], "slurmdbd")
        if daemon in self._silent:
            return None
        result = self._commands.run(*argv, timeout_s=limit_s)
        if not result.code:
            return result.out
        self._silent.add(daemon)
        late = result.code == NO_ANSWER and "timed out" in result.err
        why = f"no answer in {limit_s:.0f} s" if late else " ".join(result.err.split())[-200:] or f"exit {result.code}"
        self.notes.append(f"{daemon} did not answer ({argv[0]}: {why}), so a part of this is not known")
        return None


def _parts(names: Iterable[str]) -> Iterator[Sequence[str]]:
    known = list(names)
    return (known[at : at + AT_ONCE] for at in range(0, len(known), AT_ONCE))
