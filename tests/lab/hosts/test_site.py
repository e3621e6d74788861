# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
import pytest
import yaml

from lab.errors import LabError
from lab.hosts import site


def load(tmp_path, change):
    raw = yaml.safe_load(site.SITE_FILE.read_text())
    change(raw)
    path = tmp_path / "site.yml"
    path.write_text(yaml.safe_dump(raw))
    return site.load(7, path)


def test_addresses_carry_the_labs_number(room_site):
    assert room_site.addresses()["gpu01"] == "10.77.7.21"
    assert room_site.addresses()["leaf1"] == "10.77.7.41"


def test_spares_boot_only_when_named(room_site):
    assert [host.name for host in room_site.select([]).hosts] == [
        "ctl", "login1", "nsd1", "gpu01", "gpu02", "gpu03", "gpu04", "infra1",
    ]  # fmt: skip
    assert [host.name for host in room_site.select(["gpu05"]).hosts] == ["gpu05"]


def test_names_select_hosts_and_switches_each_once(room_site):
    chosen = room_site.select(["leaf2", "ctl", "ctl"])
    assert ([h.name for h in chosen.hosts], [s.name for s in chosen.switches]) == (["ctl"], ["leaf2"])


def test_a_kind_selects_hosts_or_switches(room_site):
    assert not room_site.select([], ["gpu"]).switches
    assert len(room_site.select([], ["gpu"]).hosts) == 4
    assert len(room_site.select([], ["eos"]).switches) == 3


@pytest.mark.parametrize(("names", "kinds"), [(["gpu99"], []), ([], ["toaster"])])
def test_what_nobody_declared_is_named(room_site, names, kinds):
    with pytest.raises(LabError, match=r"gpu99|toaster"):
        room_site.select(names, kinds)


def test_macs_are_local_unique_and_stable(room_site):
    macs = {room_site.mac(host, f"rail{i}") for host in room_site.hosts for i in range(8)}
    assert len(macs) == 8 * len(room_site.hosts)
    assert all(mac.startswith("02:") and len(mac) == 17 for mac in macs)
    assert room_site.mac("gpu01", "eth0") == site.load(7).mac("gpu01", "eth0")
    assert room_site.mac("gpu01", "eth0") != site.load(8).mac("gpu01", "eth0")


def test_gpus_and_rails_name_numa_nodes_that_exist(room_site):
    for host in room_site.hosts.values():
        hardware = host.kind.hardware
        if hardware:
            assert set(hardware["gpu_numa"]) | set(hardware["rail_numa"]) <= set(range(hardware["numa_nodes"]))
            assert len(hardware["rail_numa"]) == host.kind.rails


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda raw: raw["hosts"]["gpu02"].update(address=21), "gpu02.address is 21, which gpu01 has"),
        (lambda raw: raw["switches"]["leaf1"].update(address=1), "leaf1.address is 1, no host part"),
        (
            lambda raw: raw["hosts"].update(averylongname={"address": 99, "kind": "nsd"}),
            "averylongname can't name a host",
        ),
        (lambda raw: raw["hosts"]["gpu01"].update(leaf="leaf9"), "gpu01.leaf is leaf9, which switches lacks"),
        (lambda raw: raw["hosts"]["gpu01"].update(port=30), "gpu01.port is 30, but leaf1 has 36 ports for 8 rails"),
        (lambda raw: raw["hosts"]["ctl"].update(kind="king"), "hosts.ctl.kind is king, which kinds lacks"),
    ],
)
def test_a_site_that_contradicts_itself_is_refused(tmp_path, change, sentence):
    with pytest.raises(LabError, match=sentence):
        load(tmp_path, change)


@pytest.mark.parametrize(("kubelets", "kind"), [("", "bare"), ("bare", "bare"), ("joined", "joined")])
def test_hosts_with_gpus_come_as_members_or_bare(kubelets, kind):
    found = site.load(7, kubelets=kubelets).hosts
    assert (found["gpu01"].kind.kubelet, found["infra1"].kind.kubelet, found["ctl"].kind.kubelet) == (
        kind,
        "joined",
        "",
    )


def test_a_third_way_is_refused():
    with pytest.raises(LabError, match="LAB_KUBELETS is 'none': set it to bare or joined"):
        site.load(7, kubelets="none")
