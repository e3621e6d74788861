# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Each text of the intent says what it may be: names get into paths, units, shells and the kernel."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.options import required
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.reader import Reader
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.site.model import DOMAINS

TWO_LINES = "x\ny"
"""Two names of a hostlist."""
NAUGHTY = (
    "../x",
    "x'y",
    'x"y',
    "`id`",
    "$(id)",
    "$HOME",
    "x;y",
    "x|y",
    "x&y",
    "x>y",
    TWO_LINES,
    "x\\y",
    "*x\t",
    "x\0y",
)
"""No name, no path and no number has any of these in it."""
ANY_LINE = ("settings", "node_settings", "cgroup_settings", "gres_lines")
"""Values of another program's keys, of which only the line has bounds."""
TEMPLATES = ("{{ x }}", "a{{ x }}b", "{% if x %}a{% endif %}")


def texts(cls: type, key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Keys of texts with their rules."""
    hints = typing.get_type_hints(cls)
    for field in dataclasses.fields(cls):
        yield from _texts(hints[field.name], f"{key}.{field.name}", field.metadata)


def _texts(hint: Any, key: str, rules: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    hint, _optional = required(hint)
    if dataclasses.is_dataclass(hint):
        yield from texts(typing.cast(type, hint), key)
    elif hint is str:
        yield key, rules
    elif origin := typing.get_origin(hint):  # keys of a mapping have patterns of their own
        yield from _texts(typing.get_args(hint)[-1 if origin is not tuple else 0], key, rules)


TEXTS = {key: rules for domain, cls in DOMAINS.items() for key, rules in texts(cls, domain)}
BOUND = [key for key, rules in TEXTS.items() if "content" not in rules]
NAMES = [key for key in BOUND if key.split(".")[-1] not in ANY_LINE]


def refused(key: str, value: str) -> bool:
    reader = Reader()
    reader.value(str, value, key, TEXTS[key])
    return bool(reader.faults)


@pytest.mark.parametrize("key", NAMES)
def test_no_name_has_what_a_path_a_shell_or_a_line_would_take_for_its_own(key: str) -> None:
    values = [value for value in NAUGHTY if value != TWO_LINES or not TEXTS[key]["hosts"]]
    assert [value for value in values if not refused(key, value)] == []


@pytest.mark.parametrize("key", BOUND)
def test_no_text_is_a_template(key: str) -> None:
    assert [value for value in TEMPLATES if not refused(key, value)] == []


def test_the_text_of_a_file_may_have_the_signs_of_a_template() -> None:
    assert {key for key in TEXTS if key not in BOUND} == {
        *("slurm.job_submit.script", "slurm.cli_filter.script"),
        *("gpfs.owner.public_key", "gpfs.software.sources", "kube.sources", "kube.registries.ca"),
        *("gpfs.csi.cluster.ca", "gpfs.csi.owner.ca"),
    }
    assert not refused("slurm.job_submit.script", "local limits = {{'a', 1}}")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("slurm.settings", "{json: 1}"),
        ("nodes.classes.nics.netdev", "enp180s0f0np[0-1],bond0.100,rail_1"),
        ("nodes.classes.nics.rdma", "mlx5_[0-7],rocep1s0f0,mlx5_bond_0"),
        ("nodes.ranges.names", "gpu[001-512],gpu-a.example.org"),
        ("nodes.ranges.addresses", "10.0.[0-1].[1-254],fd00::1"),
        ("kube.api_server", "https://[fd00::1]:6443"),
        ("gpfs.software.kernels", "6.8.0-*-generic"),
        ("gpfs.tuning.settings", "mlx5_0/1 mlx5_1/1"),
    ],
)
def test_what_sites_have_is_accepted(key: str, value: str) -> None:
    assert not refused(key, value)
