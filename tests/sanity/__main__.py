# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""ansible-test sanity on the built and installed collection: `make test PARTS="sanity"`.

ansible-test looks at no linked folder. So links are resolved first, and sources that two paths lead to stay where
Ansible names them. It finds nothing but missing-gplv3-license, which an Apache-2.0 project ignores.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from ansible.release import __version__

from tests.collection.installed import BIN, ROOT, install

HOME = ROOT / ".cache/sanity"
"""ansible-test keeps its environments in the home directory, for the next time."""
PIP = "25.2"
"""What ansible-test installs into them. For another version it downloads a bootstrap from ansible.com by itself."""
LINKED = {"plugins/modules": "library", "plugins/module_utils": "module_utils", "plugins/filter": "filter_plugins"}
IGNORED = "validate-modules:missing-gplv3-license"
FOREIGN = ("ANSIBLE_", "LAB_", "PYTHON")


def resolved(installed: Path, target: Path) -> Path:
    """Copy the collection without links, each source once, and write the ignore file."""
    shutil.copytree(installed, target, symlinks=False)
    for folder in LINKED.values():
        shutil.rmtree(target / folder)
    version = ".".join(__version__.split(".")[:2])
    ignore = target / f"tests/sanity/ignore-{version}.txt"
    ignore.parent.mkdir(parents=True)
    pages = [
        path for kind in ("callback", "lookup", "modules") for path in sorted((target / "plugins" / kind).glob("*.py"))
    ]
    ignore.write_text("".join(f"{path.relative_to(target)} {IGNORED}\n" for path in pages))
    return target


def environment() -> dict[str, str]:
    """A home of its own for ansible-test, with the user's settings of pip."""
    cache = HOME / ".ansible/test/cache"
    cache.mkdir(parents=True, exist_ok=True)
    shutil.copy(Path(__file__).parent / "get_pip.py", cache / f"get_pip_{PIP.replace('.', '_')}.py")
    settings = HOME / ".config"
    if not settings.is_symlink():
        settings.symlink_to(Path.home() / ".config")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {**kept, "HOME": str(HOME), "PATH": f"{BIN}:{os.environ['PATH']}"}


def main(words: list[str]) -> int:
    """Build, install, resolve, and hand it to ansible-test; `words` are its further options."""
    with tempfile.TemporaryDirectory(prefix="sanity") as name:
        folder = Path(name)
        tree = resolved(install(folder).installed, folder / "resolved/ansible_collections/drawbridge/drawbridge")
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        argv = [str(BIN / "ansible-test"), "sanity", "--python", python, "--color", "no", *words]
        return subprocess.run(argv, cwd=tree, env=environment(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
