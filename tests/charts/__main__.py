# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's own chart, unpacked at a path, compared with kube/releases.

`python -m tests.charts outline PATH [TEMPLATE...]` prints the values that it reads, except in the named templates, for
module_utils/drawbridge/kube/releases/.

`python -m tests.charts install PATH KUBECONFIG` compares these values with the tree there. Then it installs the
chart with Drawbridge's values in a test cluster, such as the lab's. A second run must change nothing. Helm is HELM, or
the one on PATH.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

import yaml
from ansible_collections.drawbridge.drawbridge.plugins.action.helm_release import release, source_of
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.api.kubeconfig import connect
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.catalogue import NVIDIA
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.gpu_operator_view import (
    nvidia_values,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.helm_io import Helm
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.releases.model import GpuOperator

from tests.charts.reads import outline, reads
from tests.conformance.tree import ROOT


def install(path: Path, kubeconfig: str) -> int:
    """Print the differences; 1 if there are any."""
    chart = NVIDIA
    tree = (ROOT / f"module_utils/drawbridge/kube/releases/{chart.tree}.txt").read_text().splitlines()
    left_out = next((line.split()[2:] for line in tree if line.startswith("# without: ")), [])
    found = outline(reads(path, left_out))
    known = [line for line in tree if not line.startswith("#")]
    print(f"{len(found)} values are read, {len(set(found) ^ set(known))} of them not as {chart.tree}.txt has them")
    with tempfile.TemporaryDirectory() as scratch:
        source = source_of(str(_released(path, Path(scratch), chart.version)), chart.name, chart.version)
        helm = Helm(os.environ.get("HELM", "helm"), kubeconfig, "vendor", "vendor-chart", source)
        args = {"namespace": "vendor-chart", "labels": {}, "chart": chart.name, "version": chart.version}
        args["values"] = nvidia_values(GpuOperator())
        predicted, done, again = (release(connect(kubeconfig), helm, args, check=mode) for mode in (True, False, False))
    print("\n".join(done["steps"]))
    wrong = [done.get("msg", ""), *again["steps"], *(set(predicted["steps"]) ^ set(done["steps"]))]
    print(f"{len(done['steps'])} steps; left, or not as predicted: {' '.join(filter(None, wrong)) or 'nothing'}")
    return int(found != known or any(wrong))


def _released(path: Path, scratch: Path, version: str) -> Path:
    """The vendor's source tree has no version; its release sets it."""
    copy = scratch / "copy"
    copy.mkdir()
    for item in path.iterdir():
        if item.name != "Chart.yaml":
            (copy / item.name).symlink_to(item)
    about = yaml.safe_load((path / "Chart.yaml").read_text())
    (copy / "Chart.yaml").write_text(yaml.safe_dump({**about, "version": version, "appVersion": version}))
    return copy


if __name__ == "__main__":
    verb, *rest = sys.argv[1:] or ["help"]
    if verb == "outline":
        print("\n".join(outline(reads(Path(rest[0]), rest[1:]))))
    elif verb == "install":
        sys.exit(install(Path(rest[0]), rest[1]))
    else:
        sys.exit(__doc__)
