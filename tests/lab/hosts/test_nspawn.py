# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from lab.hosts import network, nspawn
from lab.hosts.cgroups import Group
from lab.hosts.provision import Bind


def test_a_host_with_containers_has_what_runc_asks_for_but_no_clock(room_site, paths):
    line = " ".join(nspawn.argv(room_site, room_site.hosts["gpu01"], paths, []))
    assert "--capability=all --drop-capability=CAP_SYS_TIME,CAP_SYS_MODULE" in line
    assert "--system-call-filter=@keyring --system-call-filter=bpf" in line


def test_other_hosts_have_no_more_than_their_network(room_site, paths):
    argv = nspawn.argv(room_site, room_site.hosts["ctl"], paths, [])
    assert [word for word in argv if "capability" in word or "filter" in word] == ["--capability=CAP_NET_ADMIN"]


def test_binds_are_read_only_unless_said_otherwise(room_site, paths):
    binds = [Bind(Path("/a"), "/x"), Bind(Path("/b"), "/y", writable=True)]
    argv = nspawn.argv(room_site, room_site.hosts["ctl"], paths, binds)
    assert argv[-2:] == ["--bind-ro=/a:/x", "--bind=/b:/y"]


def test_writes_with_o_sync_are_not_suppressed(room_site, paths):
    """nspawn answers O_SYNC with EINVAL under --suppress-sync, and containerd and etcd open so."""
    assert not any("suppress-sync" in word for word in nspawn.argv(room_site, room_site.hosts["gpu01"], paths, []))


def test_a_switch_is_started_in_its_own_network_and_once(room_site, paths, monkeypatch):
    """In the machine's own, the machine's sshd has port 22 of every address already."""
    plugged, started = [], []
    monkeypatch.setattr(network, "connect", lambda site, switch, paths: plugged.append(switch.name))
    monkeypatch.setattr(Group, "create", lambda self: self)
    monkeypatch.setattr(Group, "populated", lambda self: bool(started))
    monkeypatch.setattr(Group, "start", lambda self, command, environment, log: started.append(command))
    backend = nspawn.Nspawn(room_site, paths)
    backend.serve(room_site.switches["leaf1"], ["emulator"])
    backend.serve(room_site.switches["leaf1"], ["emulator"])
    assert plugged == ["leaf1"]
    assert started == [["nsenter", "--net=/run/netns/leaf1", "emulator"]]


def test_a_switch_without_power_is_unplugged(room_site, paths, monkeypatch):
    """As a host is: who asks for it then gets no answer, rather than a refusal from a machine that lives."""
    done = []
    monkeypatch.setattr(Group, "end", lambda self: done.append(f"end {self.name.name}"))
    monkeypatch.setattr(network, "disconnect", lambda switch, paths: done.append(f"unplug {switch.name}"))
    nspawn.Nspawn(room_site, paths).unplug(room_site.switches["leaf1"])
    assert done == ["end leaf1", "unplug leaf1"]
