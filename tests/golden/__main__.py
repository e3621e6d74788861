# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""`make golden`: write the plans of all sites anew, for `git diff` to show."""

from __future__ import annotations

import sys

from tests.golden.plans import HOME, LEFT_OUT, ROOT, SITES, write


def main() -> int:
    """Write them; what Ansible says is shown where it fails."""
    failed = False
    for site in SITES:
        done = write(ROOT / "inventories" / site, HOME / site)
        if done.returncode:
            print(done.stdout, done.stderr, sep="\n", file=sys.stderr)
            failed = True
    for site, name in LEFT_OUT:
        (HOME / site / name).unlink(missing_ok=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
