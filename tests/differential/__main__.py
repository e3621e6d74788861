# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""A visit against plain Ansible, with the whole table: `python -m tests.differential --core 2.16 2.18 2.19 2.21`.

Each release of ansible-core has its environment in .cache. The present one has that of the installed collection.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.collection.installed import ROOT, Site, install
from tests.differential.places import PLACES
from tests.differential.table import cases, rows
from tests.differential.whole import both
from tests.old_ansible import __main__ as old_ansible
from tests.old_python.__main__ import UV, here

OLDEST, PRESENT = "2.16", "2.21"
RELEASES = (OLDEST, "2.18", "2.19", PRESENT)
SHOWN = 3
"""Differences of one entry: most are the same at other places."""
PYTHON = (3, 12)
"""All releases between the oldest and the present one run on it."""


def python_of(release: str) -> Path:
    """The Python of a release's environment, which is made if need be. Raises CalledProcessError."""
    if release == PRESENT:
        return Path(sys.executable)
    if release == OLDEST:
        return old_ansible.environment()
    place = ROOT / f".cache/ansible-core{release}"
    python = place / "bin/python"
    if not python.exists():
        wanted = here(PYTHON) or ".".join(map(str, PYTHON))
        subprocess.run([str(UV), "venv", "--quiet", "--python", str(wanted), str(place)], check=True)
    wanted_core = f"ansible-core~={release}.0"
    subprocess.run([str(UV), "pip", "install", "--quiet", "--python", str(python), wanted_core], check=True)
    return python


def version_of(python: Path) -> str:
    """The exact version of ansible-core there."""
    argv = [str(python), "-c", "from ansible.release import __version__; print(__version__)"]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def differences(release: str, site: Site, root: Path) -> Mapping[str, list[str]]:
    """Those of each entry of the table, by name. A release that runs nothing differs everywhere."""
    ran = both(root, cases(), rows(), python_of(release), site.environment)
    found = ran.all(cases(), rows())
    for name, lines in found.items():
        for line in lines[:SHOWN]:
            print(f"ansible-core {release}, {name}: {line}", flush=True)
    if any(found.values()):
        print(ran.ends)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the table on the chosen releases, and print how many entries differ."""
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--core", nargs="+", choices=RELEASES, default=RELEASES, help="releases of ansible-core")
    releases = parser.parse_args(argv).core
    table: list[str] = []
    different = 0
    with tempfile.TemporaryDirectory(prefix="differential-") as name:
        site = install(Path(name))
        for release in releases:
            root = Path(name) / release
            root.mkdir()
            found = differences(release, site, root)
            kinds = Counter(entry.partition(":")[0] for entry in found)
            red = sum(map(bool, found.values()))
            different += red
            counts = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
            table.append(f"{version_of(python_of(release)):10} {counts}: {red} differ")
    print(f"Each value from {len(PLACES)} places on two hosts:", *table, sep="\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
