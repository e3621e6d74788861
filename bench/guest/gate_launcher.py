# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The gate as its launcher starts it, with folders of one of many nodes in the place of the host's own.

python3 -IS gate_launcher.py ROOT NODE VERB: the program in ROOT/gate, files of the host that is played in ROOT/NODE.
"""

import importlib
import sys
from pathlib import Path

root, node, verb = sys.argv[1:]
sys.pycache_prefix = f"{root}/compiled"
sys.path.insert(0, root)

gate = importlib.import_module("gate.__main__")
home = Path(root, node)
config, commands = gate.Config.read(home.with_name("config.json")), gate.Commands()
seams = (
    gate.Clock(),
    gate.Slurm(commands),
    gate.Host(commands, config.runtime, config.gpu_proof),
    gate.Notes(home),
    gate.Log(),
)
sys.exit(gate.run(verb, gate.World(config, gate.os.environ, *seams, etc=home, tokens=home, jobs=home / "jobs")))
