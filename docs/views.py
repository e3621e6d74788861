# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The page of the filter `view`, with a note for each view."""

from __future__ import annotations

import inspect
from typing import Any

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.compose import reads
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.model import DOMAINS, FILESYSTEMS
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.views import VIEWS

ARGUMENTS = {
    "name": "inventory name of the host",
    "chosen": "hostlist of nodes",
    "cgroups": "whether nodes confine jobs with cgroups",
    "mounts": "mount points of a healthy node",
    "names": "nodes in the order of maintenance",
    "wave": "most nodes of a wave",
    "today": "the day of the run, as year-month-day",
    "busy": "projects that have jobs; none: not known",
    "states": "states of projects, if not all",
    "only": "names of projects, if not all",
    "deletes": "whether filesets of removed projects are deleted",
}
"""Parameters of views that are no domain of the intent."""
EXAMPLES = """
# the kubelet's configuration of another node, and the rounds of a fabric
kubelet: "{{ hostvars.gpu01 | drawbridge.drawbridge.view('kubelet') }}"
rounds: "{{ {'drawbridge_fabric': fabric} | drawbridge.drawbridge.view('switch_rounds', chosen=['leaf1']) }}"
"""


def page() -> dict[str, Any]:
    """The filter's documentation, in Ansible's form."""
    options = {
        "_input": {
            "description": "Variables, such as C(hostvars) of a host.",
            "type": "dict",
            "required": True,
        },
        "name_of_view": {"description": "Name of the view.", "type": "str", "required": True},
    }
    document = {
        "name": "view",
        "short_description": "Derive from an intent what one layer needs",
        "version_added": "0.1.0",
        "author": "Drawbridge contributors (@drawbridge)",
        "description": [
            "Derives it from the variables C(drawbridge_*) among those that it is given, and reads nothing else.",
            "Roles use the lookup P(drawbridge.drawbridge.view#lookup), which finds the variables itself.",
            "Further arguments are those of the view. C(name) may be left out where C(inventory_hostname) is given.",
        ],
        "positional": "name_of_view",
        "options": options,
        "notes": [note(name) for name in sorted(VIEWS)],
    }
    returned = {"_value": {"description": "What the note of the view says.", "type": "raw"}}
    return {"DOCUMENTATION": document, "EXAMPLES": EXAMPLES.strip() + "\n", "RETURN": returned}


def note(name: str) -> str:
    """What a view derives, from what, and what it returns."""
    view = VIEWS[name]
    parameters = inspect.signature(view).parameters
    read = ", ".join(f"C(drawbridge_{key})" for key in reads(view))
    further = [key for key in parameters if key not in DOMAINS and key != FILESYSTEMS]
    takes = ", ".join(f"C({key}) ({ARGUMENTS[key]})" for key in further)
    summary, _sep, returned = inspect.cleandoc(view.__doc__ or "").partition("\n\n")
    lines = [f"C({name}): {summary}", f"It reads {read}.", f"It takes {takes}." if takes else "", returned]
    return " ".join(" ".join(line.split()) for line in lines if line)
