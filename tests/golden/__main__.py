# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`make golden`: write the plans of all sites anew, for `git diff` to show."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from tests.golden.plans import HOME, ROOT, SITES, WHOLE, files, kept, write


def main() -> int:
    """Write them; what Ansible says is shown where it fails."""
    failed = False
    # the kept parts of the other sites depend on these
    for site in sorted(SITES, key=lambda site: site not in WHOLE):
        # a plan has a record of its files, which is not kept, and without it a run writes into no folder that has files
        with tempfile.TemporaryDirectory() as scratch:
            anew = Path(scratch) / site
            done = write(ROOT / "inventories" / site, anew)
            if done.returncode:
                print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
                failed = True
                continue
            shutil.rmtree(HOME / site, ignore_errors=True)
            shutil.copytree(anew, HOME / site)
        for name in files(HOME / site):
            if not kept(site, name):
                (HOME / site / name).unlink()
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
