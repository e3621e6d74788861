# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Rules of the site's own parts of prologs, epilogs and health checks, and of its Lua scripts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from ..core.faults import Fault
from ..core.rules import doubled
from .config.refusals import FUNCTIONS
from .config.slurm_conf import JOB_GPUS_PART
from .model import Script, Slurm

OWN_PARTS = {"50-gate": "the gate's own part has that name", JOB_GPUS_PART: "slurm-job-gpus has that name"}
OWN_FOLDERS = ("/etc/drawbridge/", "/usr/local/libexec/drawbridge/")


def scripts_have_names_and_paths_of_their_own(slurm: Slurm) -> Iterator[Fault]:
    """A name decides the order, and Drawbridge's own directories are not for files of the site."""
    for field in dataclasses.fields(slurm.scripts):
        key = f"drawbridge_slurm.scripts.{field.name}"
        scripts: tuple[Script, ...] = getattr(slurm.scripts, field.name)
        names = [script.name for script in scripts]
        yield from doubled(key, names, "give every script a name of its own")
        for index, script in enumerate(scripts):
            if script.name in OWN_PARTS and field.name != "health":
                yield Fault(f"{key}[{index}].name", script.name, OWN_PARTS[script.name], "use another number or word")
            if script.path.startswith(OWN_FOLDERS):
                reason = "that directory is Drawbridge's"
                yield Fault(
                    f"{key}[{index}].path", script.path, reason, "keep the program elsewhere, such as /opt/site"
                )


def lua_scripts_have_their_functions(slurm: Slurm) -> Iterator[Fault]:
    """Slurm does not start without them."""
    for name, functions in FUNCTIONS.items():
        text = getattr(slurm, name).script
        if text and (missing := [function for function in functions if function not in text]):
            names = " and ".join(missing)
            reason = f"it has no function {names}, and Slurm does not start without it"
            repair = f"add {names}, or write lookup('ansible.builtin.file', path) instead of a path"
            yield Fault(f"drawbridge_slurm.{name}.script", text.splitlines()[0], reason, repair)


RULES = (
    scripts_have_names_and_paths_of_their_own,
    lua_scripts_have_their_functions,
)
