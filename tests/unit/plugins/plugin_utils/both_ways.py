# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""All templates of the roles, read directly and evaluated by Ansible, with the intent of an example site.

Prints how many were read directly, and those whose values differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ansible.parsing.dataloader import DataLoader
from ansible.plugins.loader import init_plugin_loader

ROOT = Path(__file__).parents[4]
LOADER = DataLoader()


def texts(tree: Any) -> Iterator[Any]:
    """All templates in a file of YAML."""
    if isinstance(tree, (dict, list)):
        for item in tree.values() if isinstance(tree, dict) else tree:
            yield from texts(item)
    elif isinstance(tree, str) and "{{" in tree:
        yield tree


def main() -> None:
    """Compare role by role."""
    init_plugin_loader([str(ROOT / "collections")])
    from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils import direct, play_tasks, releases
    from ansible_collections.drawbridge.drawbridge.plugins.plugin_utils.direct_filters import Unknown, plain

    def load(file: Path) -> Any:
        return LOADER.load_from_file(str(file), **releases.TRUSTED) or {}

    read, differ = 0, []
    intent = {
        key: value
        for file in (ROOT / "inventories/example-rails/group_vars/all").glob("*.yml")
        for key, value in load(file).items()
    }
    for role in sorted(path.parent for path in (ROOT / "roles").glob("*/tasks")):
        every = {**intent, "inventory_hostname": "gpu001", "ansible_search_path": [str(role)], "role_path": str(role)}
        for file in (role / "defaults/main.yml", role / "vars/main.yml"):
            every |= load(file) if file.exists() else {}
        known = play_tasks.Settled(LOADER).named(" ".join(every), every)
        templar = releases.templar_of(LOADER, {**every, **known})
        for raw in (
            text
            for part in ("defaults", "vars", "tasks")
            for file in (role / part).glob("*.yml")
            for text in texts(load(file))
        ):
            try:
                value = direct.Direct(LOADER, known, every).value(raw)
            except Unknown:
                continue
            read += 1
            if value != plain(releases.evaluated(templar, raw)):
                differ.append(f"{role.name}: {raw}")
    print(json.dumps({"read": read, "differ": differ}))


if __name__ == "__main__":
    main()
