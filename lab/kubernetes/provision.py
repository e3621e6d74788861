# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Install a control plane or a kubelet into a host, ready to start while the host boots."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterable
from pathlib import Path

from lab.errors import LabError
from lab.hosts.paths import Paths
from lab.hosts.provision import Bind, Context
from lab.hosts.site import JOINED, Host, Kind, Site
from lab.kubernetes import charts, debs, images, installer, node
from lab.kubernetes.pki import Authority, Pair, write_private
from lab.machine.hardware import Hardware
from lab.machine.provision import hardware_of
from lab.tools import build

HERE = Path(__file__).resolve().parent
UNITS = HERE / "units"
ONCE = """\
# a site may have other rights by the next boot
[Unit]
ConditionPathExists=!/var/lib/lab-rights
[Service]
ExecStartPost=/bin/touch /var/lib/lab-rights
"""
CONTROL_PLANE = ("kube-apiserver", "kube-scheduler", "kube-controller-manager")
RUNTIME = ("kubelet", "containerd", "containerd-shim-runc-v2", "ctr")
SERVICE_ADDRESS = "10.96.0.1"
PKI = "/etc/kubernetes/pki"
NAMES = ("localhost", "127.0.0.1", SERVICE_ADDRESS, "kubernetes", "kubernetes.default", "kubernetes.default.svc")


def prepare(site: Site, paths: Paths) -> None:
    """Build the tools when the cache lacks them; make the authority, and kubeconfigs of administrator and installer."""
    tools = build.ensure(paths.cache, functools.partial(print, file=sys.stderr, flush=True))
    _for_ansible(_home(paths).parent, tools["helm"])
    authority = Authority.ensure(_home(paths))
    Authority.ensure(_home(paths) / "etcd")
    if not paths.kubeconfig.exists():
        # For the lab itself and for who plays the administrator; no host ever sees it.
        admin = authority.client("kubernetes-admin", "system:masters")
        write_private(paths.kubeconfig, authority.kubeconfig(api_server(site), admin))
        # what Ansible uses: a member of the group that the administrator has given the installer's rights
        runs = authority.client("drawbridge-installer", "drawbridge:installer")
        write_private(paths.installer_kubeconfig, authority.kubeconfig(api_server(site), runs))


def _for_ansible(state: Path, helm: Path) -> None:
    """Helm, and charts that it can have without a registry."""
    (state / "bin").mkdir(parents=True, exist_ok=True)
    (state / "bin/helm").unlink(missing_ok=True)
    (state / "bin/helm").symlink_to(helm)
    charts.write(state / "charts")


def provision(context: Context) -> None:
    """Write what the host's kind runs."""
    if context.host.kind.control_plane:
        _control_plane(context)
    if context.host.kind.kubelet:
        _node(context)


def api_server(site: Site) -> str:
    """Return the API server's URL; LabError when the site has no controller."""
    return f"https://{site.ip(_controller(site).address)}:6443"


def _controller(site: Site) -> Host:
    for host in site.hosts.values():
        if host.kind.control_plane:
            return host
    raise LabError("lab/site.yml has no host of a kind with control_plane: true, so no API server: add one")


def _control_plane(context: Context) -> None:
    authority, address = Authority.ensure(_home(context.paths)), context.site.ip(context.host.address)
    _bind_tools(context, {name: f"/usr/bin/{name}" for name in CONTROL_PLANE} | {"helm": "/usr/local/bin/helm"})
    context.write("/etc/kubernetes/apiserver.env", f"ADDRESS={address}\n")
    context.write("/etc/kubernetes/audit.yml", (HERE / "guest/audit.yml").read_text())
    context.write(f"{PKI}/ca.crt", authority.ca.certificate)
    # who signs what kubelets ask for has the authority's key
    context.write(f"{PKI}/ca.key", authority.ca.key, 0o600)
    context.write(f"{PKI}/sa.pub", authority.tokens.certificate)
    context.write(f"{PKI}/sa.key", authority.tokens.key, 0o600)
    _pair(context, f"{PKI}/apiserver", authority.server("kube-apiserver", (context.host.name, address, *NAMES)))
    # With this the API server reads logs from kubelets, which ask it in turn whether that user may.
    _pair(context, f"{PKI}/apiserver-kubelet-client", authority.client("kube-apiserver", "system:masters"))
    _store(context)
    for component in ("scheduler", "controller-manager"):
        _kubeconfig(context, f"/etc/kubernetes/{component}.conf", authority.client(f"system:kube-{component}"))
    context.write("/etc/lab/rights.yml", installer.text(installer.RIGHTS))
    packages = debs.ensure(context.paths.cache, build.ensure(context.paths.cache))
    context.binds.append(Bind(packages, "/srv/lab/kubernetes"))
    _install(context, ("lab-administrator@.service",), wanted_by="")
    wants = "/etc/systemd/system/multi-user.target.wants/lab-administrator@rights.service"
    context.link(wants, "/etc/systemd/system/lab-administrator@.service")
    context.write("/etc/systemd/system/lab-administrator@rights.service.d/once.conf", ONCE)
    own = ("lab-etcd.service", "lab-packages.service")
    _install(context, (*own, *(f"{name}.service" for name in CONTROL_PLANE)))


def _store(context: Context) -> None:
    """Give etcd an authority of its own, so that no other certificate of the lab opens it."""
    authority = Authority.ensure(_home(context.paths) / "etcd")
    context.write(f"{PKI}/etcd/ca.crt", authority.ca.certificate)
    _pair(context, f"{PKI}/etcd/server", authority.server("etcd", ("127.0.0.1",)))
    _pair(context, f"{PKI}/etcd/client", authority.client("kube-apiserver"))


def _node(context: Context) -> None:
    host, hardware = context.host, _devices_of(context.host.kind)
    context.binds.append(Bind(images.ensure(context.paths.cache, context.image), "/usr/lib/lab/images"))
    context.write("/etc/containerd/conf.d/10-lab.toml", node.CONFINED if host.kind.vm else node.CONTAINERD)
    for name in ("lab-runc", "lab-runc-create"):
        context.write(f"/usr/lib/lab/{name}", (HERE / "guest" / name).read_text(), 0o755)
    context.write("/etc/cni/net.d/10-lab.conflist", node.cni(host.address))
    _install(context, ("lab-images.service",), "containerd.service")
    if hardware:
        _bind_tools(context, {"deviceplugin": "/usr/lib/lab/deviceplugin"})
        context.write("/etc/lab/deviceplugin.json", node.devices(hardware, files=bool(host.kind.vm)))
        # it looks for a kubelet all the time, which costs an emulated processor much
        _install(context, ("lab-device-plugin.service",), "kubelet.service" if host.kind.vm else "multi-user.target")
    if host.kind.kubelet == JOINED:
        _member(context, start=not hardware)


def _devices_of(kind: Kind) -> Hardware | None:
    """What the device plugin counts: a virtual machine has GPUs without other hardware that is not there."""
    if kind.vm is None or not kind.vm.gpus:
        return hardware_of(kind)
    return Hardware.within(kind.vm)


def _member(context: Context, start: bool) -> None:
    """A node that the site has made a member by its own means. One with GPUs is started by who gives it its taint."""
    host, address = context.host, context.site.ip(context.host.address)
    authority = Authority.ensure(_home(context.paths))
    # Debian 13 has containerd 1.7, which cannot keep an image's groups from a pod (supplementalGroupsPolicy: Strict).
    _bind_tools(context, {name: f"/usr/bin/{name}" for name in RUNTIME})
    context.write("/etc/containerd/config.toml", node.IMPORTS)
    context.write("/etc/default/kubelet", f"NODE_NAME={host.name}\nNODE_IP={address}\n")
    context.write("/var/lib/kubelet/config.yaml", node.kubelet_config())
    context.write(f"{PKI}/ca.crt", authority.ca.certificate)
    _pair(context, "/var/lib/kubelet/pki/kubelet", authority.server(f"system:node:{host.name}", (host.name, address)))
    member = authority.client(f"system:node:{host.name}", "system:nodes")
    _kubeconfig(context, "/etc/kubernetes/kubelet.conf", member)
    # where a kubelet that joins by itself keeps it, whatever its kubeconfig is called
    context.write("/var/lib/kubelet/pki/kubelet-client-current.pem", member.certificate + member.key, 0o600)
    (context.disk / "etc/kubernetes/kubelet.conf.d").mkdir(exist_ok=True)
    _install(context, ("containerd.service",))
    _install(context, ("kubelet.service",), "multi-user.target" if start else "")


def _install(context: Context, units: Iterable[str], wanted_by: str = "multi-user.target") -> None:
    for unit in units:
        context.write(f"/etc/systemd/system/{unit}", (UNITS / unit).read_text())
        if wanted_by:
            context.enable(unit, wanted_by)


def _bind_tools(context: Context, targets: dict[str, str]) -> None:
    tools = build.ensure(context.paths.cache)
    context.binds.extend(Bind(tools[name], target) for name, target in targets.items())


def _pair(context: Context, target: str, pair: Pair) -> None:
    context.write(f"{target}.crt", pair.certificate)
    context.write(f"{target}.key", pair.key, 0o600)


def _kubeconfig(context: Context, target: str, pair: Pair) -> None:
    authority = Authority.ensure(_home(context.paths))
    context.write(target, authority.kubeconfig(api_server(context.site), pair), 0o600)


def _home(paths: Paths) -> Path:
    return paths.kubeconfig.parent
