# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""containerd's files (2.0 and later): its configuration, and the mirrors of registries."""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import urlsplit

HEADER = "# Written by Drawbridge's role kube_node, which overwrites changes."
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
    """/etc/containerd/config.toml. It names the pause image, because containerd's default changes with releases."""
    return CONFIG.format(
        header=HEADER,
        certs=CERTS_D,
        systemd_cgroup=str(systemd_cgroup).lower(),
        sandbox_image=json.dumps(sandbox_image),
    )


def hosts(name: str, mirrors: Sequence[str], ca_file: str, fallback: bool) -> str:
    """hosts.toml of a registry; _default serves all registries without their own file.

    containerd tries `server` last; without that line it tries the registry itself.
    """
    urls, last = list(mirrors), ""
    if not fallback:
        last = urls.pop()
    elif name != "_default":
        # Docker's registry has another host name than its images
        last = f"https://{'registry-1.docker.io' if name == 'docker.io' else name}"
    lines = [HEADER]
    if last:
        lines += [f"server = {json.dumps(last)}", *_settings(last, ca_file, "")]
    for url in urls:
        lines += ["", f"[host.{json.dumps(url)}]", *_settings(url, ca_file, "  ")]
    return "".join(f"{line}\n" for line in lines)


def _settings(url: str, ca_file: str, indent: str) -> list[str]:
    """For a URL with a path, containerd must not append /v2."""
    found = ['capabilities = ["pull", "resolve"]']
    found += [f"ca = {json.dumps(ca_file)}"] if ca_file else []
    found += ["override_path = true"] if urlsplit(url).path.strip("/") else []
    return [f"{indent}{line}" for line in found]
