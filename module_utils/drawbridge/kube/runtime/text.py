# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""containerd's files (2.0 and later): its configuration, and where images are fetched instead of their registry."""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import urlsplit

HEADER = "# Written by Drawbridge's role kube_node, which undoes what is changed here by hand."
CERTS_D = "/etc/containerd/certs.d"
CONFIG_FILE = "/etc/containerd/config.toml"
DROP_IN = "/etc/systemd/system/containerd.service.d/50-drawbridge.conf"
LIMITS = f"""\
{HEADER}
# RDMA locks the memory that it registers, and pods inherit this limit.
[Service]
LimitMEMLOCK=infinity
"""
CONFIG = """\
{header}
# Settings of others, such as a GPU vendor's runtime, belong into files of their own in /etc/containerd/conf.d.
version = 3
imports = ["/etc/containerd/conf.d/*.toml"]

[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = {sandbox_image}

[plugins."io.containerd.cri.v1.images".registry]
  config_path = "{certs}"

[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"

  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
    SystemdCgroup = {systemd_cgroup}
"""


def config(systemd_cgroup: bool, sandbox_image: str) -> str:
    """/etc/containerd/config.toml. What is not said here of the pause image changes with containerd's releases."""
    return CONFIG.format(
        header=HEADER,
        certs=CERTS_D,
        systemd_cgroup=str(systemd_cgroup).lower(),
        sandbox_image=json.dumps(sandbox_image),
    )


def hosts(name: str, mirrors: Sequence[str], ca_file: str, fallback: bool) -> str:
    """hosts.toml of a registry. `name` is what images call it, _default stands for all without a file of their own.

    The last host that is asked is `server`; without that line containerd asks the registry itself.
    """
    urls, last = list(mirrors), ""
    if not fallback:
        last = urls.pop()
    elif name != "_default":
        last = f"https://{_api(name)}"
    lines = [HEADER]
    if last:
        lines += [f"server = {json.dumps(last)}", *_settings(last, ca_file, "")]
    for url in urls:
        lines += ["", f"[host.{json.dumps(url)}]", *_settings(url, ca_file, "  ")]
    return "".join(f"{line}\n" for line in lines)


def _settings(url: str, ca_file: str, indent: str) -> list[str]:
    """A URL with a path is a mirror's own place for this registry: containerd must not add its /v2."""
    found = ['capabilities = ["pull", "resolve"]']
    found += [f"ca = {json.dumps(ca_file)}"] if ca_file else []
    found += ["override_path = true"] if urlsplit(url).path.strip("/") else []
    return [f"{indent}{line}" for line in found]


def _api(name: str) -> str:
    """Docker's registry answers elsewhere than its images say."""
    return "registry-1.docker.io" if name == "docker.io" else name
