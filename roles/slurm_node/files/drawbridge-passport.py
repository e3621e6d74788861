# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The passport of this node: drawbridge-passport look|depends|deliver.

`look` changes nothing and is a part of slurm-health. Without a valid passport the exit code is 1 and one line has the
reason. While the reservation of a proof keeps users' jobs off the node, that is no finding.
`depends` prints what a proof depends on, as JSON. `deliver` reads JSON with passport, signature and public_key,
verifies them and writes the passport.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

sys.dont_write_bytecode = True  # host_files would see bytecode as a change
sys.path.insert(0, str(Path(__file__).parents[1] / "lib/drawbridge-passport"))

# these imports need the line above
from drawbridge.core.command import Command, tool  # noqa: E402
from drawbridge.core.converge import DeviceError  # noqa: E402
from drawbridge.proof.depends_io import asked, depends  # noqa: E402
from drawbridge.proof.passport_deliver_io import deliver, lacks  # noqa: E402
from drawbridge.proof.reserved import RESERVATION, TIME_FORMAT, holds  # noqa: E402

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LIMIT_S = 5.0


def look(root: str, limit_s: float) -> str:
    """Why this node may take no jobs; empty if it may. It queries Slurm only without a valid passport."""
    node, why = asked(root).node, lacks(root)
    return "" if why and reserved(node, limit_s) else why


def reserved(node: str, limit_s: float) -> bool:
    """Whether a proof has reserved the node."""
    os.environ.update(TIME_FORMAT)
    try:
        shown = Command(limit_s)([tool("scontrol"), "show", "reservation", RESERVATION, "-o"]).out
        return holds(shown, node, time.time())
    except (DeviceError, ValueError):  # also if there is no reservation of that name
        return False


def main() -> int:
    """Call the verb, and print its answer."""
    parser = argparse.ArgumentParser(prog="drawbridge-passport")
    parser.add_argument("verb", choices=["look", "depends", "deliver"])
    parser.add_argument("--limit", type=float, default=LIMIT_S, metavar="SECONDS", help="for scontrol")
    parser.add_argument("--root", default="/", metavar="DIRECTORY", help="prefix of all files")
    parser.add_argument("--path", default=PATH, metavar="PATH", help="where to find tools")
    options = parser.parse_args()
    os.environ["PATH"] = options.path
    said = ""
    try:
        if options.verb == "look":
            said = look(options.root, options.limit)
        elif options.verb == "depends":
            print(json.dumps(depends(options.root), sort_keys=True))
        else:
            given = json.load(sys.stdin)
            deliver(given["passport"], given["signature"], given["public_key"], options.root)
    except DeviceError as err:
        said = str(err)
    except (ValueError, LookupError, TypeError, AttributeError) as err:
        said = f"that is no passport: {type(err).__name__}: {err}"
    print(*filter(None, [said]), end="\n" if said else "")
    return int(bool(said))


if __name__ == "__main__":
    sys.exit(main())
