# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""What a person sees of a lab, and what other programs need to use it."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from lab.hosts import checks
from lab.hosts.backend import Backend
from lab.hosts.paths import Paths
from lab.hosts.site import Site


def report(site: Site, paths: Paths, backend: Backend) -> Iterator[str]:
    """One line a host and switch that isn't an unused spare, then the differences from a real machine room."""
    if not backend.alive():
        yield f"lab {paths.lab_id} is not running" + (", but left something: run lab down" * paths.state.exists())
        return
    yield f"lab {paths.lab_id} on {paths.bridge} ({site.ip(0)}/24), state in {paths.state}"
    hosts = list(site.hosts.values())
    with ThreadPoolExecutor(16) as pool:
        states = list(pool.map(backend.systemd_state, hosts))
    for host, state in zip(hosts, states, strict=True):
        if state != "off" or not host.spare:
            yield f"{host.name:9} {site.ip(host.address):12} {host.kind.name:10} {state}"
    for switch in site.switches.values():
        state = "serving" if backend.serving(switch) else "off"
        yield f"{switch.name:9} {site.ip(switch.address):12} {switch.platform:10} {state}"
    yield from checks.hybrid(backend.controllers())


def exports(paths: Paths) -> Iterator[str]:
    """Lines for a shell's eval: how ssh, ansible and kubectl reach this lab."""
    variables = {
        "LAB_ID": str(paths.lab_id),
        "LAB_STATE": str(paths.base),
        "LAB_CACHE": str(paths.cache),
        "LAB_NETWORK": f"10.77.{paths.lab_id}",
        "LAB_SSH_CONFIG": str(paths.ssh_config),
        "ANSIBLE_SSH_COMMON_ARGS": f"-F {paths.ssh_config}",
        "KUBECONFIG": str(paths.kubeconfig),
    }
    for name, value in variables.items():
        yield f"export {name}={shlex.quote(value)}"
