# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One sentence for all filesets of a run that need the same consent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ....core.converge import Step
from ....core.quantities import count
from .model import Consents, FilesetsState

FOREIGN, CONSENT = "foreign", "consent"
"""In place of a refusal, until all filesets that it is about are known."""


def with_sentences(
    steps: Sequence[Step[FilesetsState]], have: FilesetsState, consents: Consents
) -> list[Step[FilesetsState]]:
    """The same steps with sentences in place of FOREIGN and CONSENT; none for a deletion that has its consent."""
    foreign = [step.payload.name for step in steps if step.refused == FOREIGN]
    doomed = [step.payload.name for step in steps if step.refused == CONSENT]
    missing = [name for name in doomed if name not in consents.delete]
    if not foreign and not doomed:
        return list(steps)
    texts = {FOREIGN: _foreign(foreign, have, consents), CONSENT: _delete(missing, have, consents)}
    return [_with_sentence(step, texts, consents) if step.refused in texts else step for step in steps]


def _with_sentence(step: Step[FilesetsState], texts: Mapping[str, str], consents: Consents) -> Step[FilesetsState]:
    allowed = step.refused == CONSENT and step.payload.name in consents.delete
    return replace(step, refused="" if allowed else texts[step.refused])


def _foreign(names: Sequence[str], have: FilesetsState, consents: Consents) -> str:
    found = ((name, have.filesets[name]) for name in names)
    shown = ", ".join(f"{name} ({it.comment!r})" for name, it in found if it)
    return (
        f"Drawbridge did not make these filesets of {consents.device}, as their comments say: {shown}; use other names,"
        f" or take them over with the line {consents.adopt_option}: [{', '.join(names)}]"
    )


def _delete(names: Sequence[str], have: FilesetsState, consents: Consents) -> str:
    found = ((name, have.filesets.get(name)) for name in names)
    shown = ", ".join(f"{name} ({count(it.used, 'inode')} in use)" if it and it.used else name for name, it in found)
    return (
        f"deleting filesets of {consents.device} deletes their data permanently: {shown}; to allow it, add the line"
        f" {consents.delete_option}: [{', '.join(names)}]"
    )
