# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Tools of load checks: how they are called, and findings for tools and GPUs that are absent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..measure import Found, Missing, Remark
from ..node import ProofNode
from .check import Program

NOT_MEASURED = "not measured"
"""Name of the remark about a tool that the intent does not name."""
ENVIRONMENT: Mapping[str, str] = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LC_ALL": "C",
}


def program(
    argv: Sequence[str], seconds: float, folder: str = "", variables: Mapping[str, str] | None = None
) -> Program:
    """A command whose environment has these variables alone.

    `env` clears the caller's: with those of a job's step, a program that is built with MPI looks for other nodes.
    """
    settings = {**ENVIRONMENT, **(variables or {})}
    clean = ("env", "-i", *(f"{name}={value}" for name, value in settings.items()))
    return Program((*clean, *argv), seconds, folder)


def absent(node: ProofNode, tool: str, what: str) -> list[Found]:
    """A warning, the same for each node of a class: the site chose not to measure this, and no node can help it."""
    why = f"drawbridge_proof.tools.{tool} is empty, so {what}"
    return [Remark(NOT_MEASURED, f"class {node.node_class}", why, warning=True)]


def of_all_gpus(node: ProofNode, found: Sequence[Found], names: Sequence[str]) -> list[Found]:
    """The findings, and Missing for each GPU of the intent that a tool measured on others alone."""
    failed = {it.name for it in found if it.where == node.name}
    places = {(it.name, it.where) for it in found}
    every = [(name, f"{node.name} GPU {gpu}") for name in names if name not in failed for gpu in range(node.gpus)]
    why = "the tool did not measure this GPU: the driver does not show it"
    return [*found, *(Missing(*one, why) for one in every if one not in places)]
