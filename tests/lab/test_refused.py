# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a person may get wrong about the lab: each refusal is one sentence with a way out."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import yaml

from lab.errors import LabError
from lab.hosts import site, switches
from lab.hosts.paths import Paths
from lab.image import build as image
from lab.machine.hardware import Hardware
from lab.tools import build as tools

HARDWARE = {"sockets": 2, "cores_per_socket": 32, "threads_per_core": 2, "memory_kb": 2113929216, "numa_nodes": 2}


def described(change: Callable[[dict], object]) -> Callable:
    def load(tmp_path):
        raw = yaml.safe_load(site.SITE_FILE.read_text())
        change(raw)
        (tmp_path / "site.yml").write_text(yaml.safe_dump(raw))
        site.load(7, tmp_path / "site.yml")

    return load


def two_cables(tmp_path):
    room = site.load(7)
    hosts = {**room.hosts, "gpu02": replace(room.hosts["gpu02"], port=8)}
    switches.neighbors(replace(room, hosts=hosts), room.switches["leaf1"])


def small_disk(tmp_path):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tools, "FREE_BYTES_NEEDED", 1 << 60)
        tools.ensure(tmp_path, print)


REFUSED = {
    "no subnet": (lambda _: Paths.of({"LAB_ID": "100"}), "set a number from 0 to 99"),
    "no number": (lambda _: Paths.of({"LAB_ID": "one"}), "set a number from 0 to 99"),
    "unknown name": (lambda _: site.load(7).select(["gpu99"]), "gpu99"),
    "unknown kind": (lambda _: site.load(7).select([], ["toaster"]), "toaster"),
    "unknown site": (
        lambda _: site.file_of("moon"),
        "LAB_SITE is 'moon', which lab/sites lacks: use one of existing, gpus, isolation, mixed, rails",
    ),
    "third way": (
        lambda _: site.load(7, kubelets="none"),
        "LAB_KUBELETS is 'none': set it to bare or joined",
    ),
    "doubled address": (
        described(lambda raw: raw["hosts"]["gpu02"].update(address=21)),
        "gpu02.address is 21, which gpu01 has",
    ),
    "no host part": (
        described(lambda raw: raw["switches"]["leaf1"].update(address=1)),
        "leaf1.address is 1, no host part",
    ),
    "long name": (
        described(lambda raw: raw["hosts"].update(averylongname={"address": 99, "kind": "nsd"})),
        "averylongname can't name a host",
    ),
    "no leaf": (
        described(lambda raw: raw["hosts"]["gpu01"].update(leaves=["leaf9"])),
        "gpu01 is plugged into leaf9, which switches lacks",
    ),
    "few ports": (
        described(lambda raw: raw["hosts"]["gpu01"].update(port=62)),
        "gpu01.rail7 is plugged into port 69, but leaf1 has 68 ports",
    ),
    "no kind": (
        described(lambda raw: raw["hosts"]["ctl"].update(kind="king")),
        "hosts.ctl.kind is king, which kinds lacks",
    ),
    "taken port": (two_cables, "leaf1 port 8 is taken twice, by gpu01 rail7 and gpu02 rail0"),
    "one NUMA node": (
        lambda _: Hardware.of(HARDWARE | {"numa_nodes": 1}),
        "hardware.numa_nodes is 1, but each of the 2 sockets is given one NUMA node: set it to 2",
    ),
    "strange NUMA node": (
        lambda _: Hardware.of(HARDWARE | {"gpu_numa": [0, 2]}),
        "hardware.gpu_numa names NUMA node 2, but numa_nodes is 2: use 0 to 1",
    ),
    "small disk": (small_disk, "set LAB_CACHE to a larger disk"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_it_is_refused(case, tmp_path):
    call, sentence = REFUSED[case]
    with pytest.raises(LabError) as told:
        call(tmp_path)
    assert sentence in str(told.value)


@pytest.mark.parametrize(
    ("log", "repair"),
    [
        ("Err:1 http://mirror trixie InRelease\n  Temporary failure resolving 'mirror'\n", "or set LAB_MIRROR"),
        ("tar: ./usr/bin/x: Cannot write: No space left on device\n", "set LAB_CACHE"),
        ("", "no output"),
    ],
)
def test_an_image_that_cannot_be_built_says_why(log, repair):
    assert repair in image.why(log)
