# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""The module against an emulated server whose exports are really mounted, in a mount namespace of its own."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.unit.library.emulated import converged
from tests.unit.library.nfs_site import Site
from tests.unit.library.ways import ALONE, VISIT, meet_faults

SOURCE = "filer:/export/data"
DRAINED = "drawbridge nfs: mounts change"
SHORT_S = 2
"""A limit that a server which never answers is sure to reach."""
LONG_S = 100
"""No limit of a test that is reached; far below what waits without one."""


@pytest.fixture(params=[ALONE, VISIT])
def site(request: Any, own_mounts: None, tmp_path: Path, monkeypatch: Any, capfd: Any) -> Site:
    """Nothing is mounted yet."""
    site = Site(tmp_path, monkeypatch, capfd)
    site.host.way = request.param
    return site


@pytest.fixture
def mounted(site: Site) -> Site:
    """The export is mounted, and Slurm may start jobs."""
    done = site.run()
    assert not done.get("failed") and site.is_mounted(), done
    return site


def first(site: Site) -> str:
    return f"mount {SOURCE} at {site.mount}"


def converge(site: Site, **arguments: Any) -> dict[str, Any]:
    def written() -> list[Any]:
        return [site.written(), site.verbs(), sorted(site.units.iterdir())]

    return converged(lambda **more: site.run(**arguments, **more), written)


def limit_s(effect: str) -> int:
    return SHORT_S if effect == "hang" else LONG_S


def test_check_predicts_the_mount_and_the_second_run_only_reads(site: Site) -> None:
    assert converge(site)["steps"] == [first(site)]
    assert site.is_mounted() and site.slurm() == []
    assert site.verbs() == ["start"] and len(site.written()) == 1


def test_a_bare_host_gets_the_client_first(site: Site) -> None:
    site.write("packages")
    assert converge(site)["steps"] == ["install the NFS client", first(site)]
    assert site.is_mounted()


def test_an_unmount_by_hand_is_seen(mounted: Site) -> None:
    subprocess.run(["umount", mounted.mount], check=True)
    assert mounted.run()["steps"] == [first(mounted)] and mounted.is_mounted()


def test_other_options_wait_for_a_drained_node_and_are_then_mounted(mounted: Site) -> None:
    wanted = [mounted.wanted(read_only=True, nconnect=4, options=["noatime"])]
    refused = mounted.run(mounts=wanted)
    assert refused.get("failed") and not refused["changed"] and mounted.verbs() == ["start"]
    assert "Slurm may start jobs on gpu01; drain it first: scontrol update nodename=gpu01" in refused["msg"]
    mounted.write("drain", "for the change")
    done = converge(mounted, mounts=wanted)
    assert done["steps"] == [f"{first(mounted)} again: mode is rw instead of ro, nconnect is 1 instead of 4"]
    with pytest.raises(OSError, match="Read-only"):
        (Path(mounted.mount) / "x").touch()
    assert (mounted.drain(), mounted.slurm()) == ("for the change", [])


def test_an_option_that_the_kernel_does_not_show_is_mounted_again_too(mounted: Site) -> None:
    wanted = [mounted.wanted(options=["lookupcache=none"])]
    done = mounted.run(mounts=wanted, may_unmount=True)
    assert not done.get("failed") and "again: options were" in done["steps"][0], done
    assert mounted.run(mounts=wanted)["steps"] == []


def test_without_a_drain_the_node_is_drained_meanwhile_and_comes_back(mounted: Site) -> None:
    done = mounted.run(mounts=[mounted.wanted(version="4.1")], may_unmount=True)
    assert not done.get("failed") and mounted.is_mounted(), done
    assert mounted.slurm() == [
        f"update nodename=gpu01 state=drain reason={DRAINED}: {mounted.mount}",
        "update nodename=gpu01 state=undrain",
    ]
    assert not mounted.marker.exists()


def test_an_export_that_the_intent_lost_is_unmounted(mounted: Site) -> None:
    refused = mounted.run(mounts=[])
    assert refused.get("failed") and mounted.is_mounted()
    mounted.write("drain", "for the change")
    done = converge(mounted, mounts=[])
    assert done["steps"] == [f"unmount {SOURCE} from {mounted.mount}, which the intent does not have"]
    assert not mounted.is_mounted() and not list(mounted.units.iterdir())


def test_a_mount_of_the_site_stays(mounted: Site) -> None:
    for unit in mounted.units.iterdir():
        unit.write_text(unit.read_text().replace("Managed by Drawbridge", "the site's"))
    assert mounted.run(mounts=[])["steps"] == [] and mounted.is_mounted()


def test_a_busy_mount_is_never_unmounted_and_its_node_comes_back(mounted: Site) -> None:
    with (Path(mounted.mount) / "busy").open("w"):
        failed = mounted.run(mounts=[mounted.wanted(version="4.1")], may_unmount=True)
    assert failed.get("failed") and f"{mounted.mount} can't be unmounted: " in failed["msg"]
    assert " use it" in failed["msg"] and failed["cmd"][:2] == ["systemctl", "stop"]
    assert mounted.is_mounted() and mounted.drain() == "" and not mounted.marker.exists()


def test_a_node_with_a_job_keeps_its_mount_and_the_change_is_pending(mounted: Site) -> None:
    mounted.write("drain", "for the change")
    mounted.write("jobs", "77\n")
    wanted = [mounted.wanted(version="4.1")]
    waits = converge(mounted, mounts=wanted)
    assert not waits["changed"]
    assert "Slurm job 77 is on this node; drain it and run this again" in waits["pending"][0]
    assert mounted.verbs() == ["start"]


def test_a_foreign_mount_in_the_place_is_refused(site: Site) -> None:
    Path(site.mount).mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "none", site.mount], check=True)
    refused = site.run()
    assert refused.get("failed") and site.verbs() == []
    assert "something else is mounted there; unmount it first" in refused["msg"]


@pytest.mark.parametrize(
    ("effect", "told"),
    [
        ("refuse", f"access denied by server while mounting {SOURCE}; add this node to the server's exports"),
        ("hang", "the server gave no answer in time; check the server and the network to it"),
        ("lie", "mount.nfs reported success, but there is no mount; look for the reason in this node's kernel log"),
    ],
)
@meet_faults("site")
def test_a_mount_that_fails_is_reported_with_its_command_and_the_next_run_finishes(
    site: Site, effect: str, told: str
) -> None:
    site.device.add_fault("mount.nfs", effect)
    begun_s = time.monotonic()
    failed = site.run(wait_s=limit_s(effect))
    assert failed.get("failed") and time.monotonic() - begun_s < LONG_S
    assert f"{SOURCE} can't be mounted at {site.mount}: {told}" in failed["msg"]
    assert failed["cmd"][:2] == ["systemctl", "start"] and (failed["done"], failed["left"]) == ([], [first(site)])
    site.device.clear_faults()
    assert site.run()["steps"] == [first(site)] and site.is_mounted()


def test_a_server_that_negotiates_another_version_is_a_failure(site: Site) -> None:
    site.device.add_fault("mount.nfs", "drift")
    failed = site.run()
    again = f"{first(site)} again: vers is 4.1 instead of 4.2"
    assert failed.get("failed") and failed["changed"] and failed["left"] == [again]
    assert f"the change is not in effect: {again}" in failed["msg"]
    site.write("drain", "for the change")
    assert site.run()["steps"] == [again] and site.run()["steps"] == []


@pytest.mark.parametrize("verb", ["start", "stop"])
@meet_faults("site")
def test_a_systemctl_that_lies_is_found_out(mounted: Site, verb: str) -> None:
    mounted.write(f"{verb}-lies")
    failed = mounted.run(mounts=[mounted.wanted(version="4.1")], may_unmount=True)
    assert failed.get("failed") and f"systemctl {verb} reported success" in failed["msg"], failed
    assert mounted.is_mounted() is (verb == "stop")
    assert bool(mounted.drain()) is (verb == "start")
    mounted.remove(f"{verb}-lies")
    done = mounted.run(mounts=[mounted.wanted(version="4.1")], may_unmount=True)
    assert not done.get("failed") and mounted.drain() == "", done


@pytest.mark.parametrize("effect", ["refuse", "hang", "lie", "drift"])
@meet_faults("site")
def test_a_mount_that_was_not_made_again_keeps_the_node_drained_until_a_run_succeeds(
    mounted: Site, effect: str
) -> None:
    wanted = [mounted.wanted(nconnect=4)]
    mounted.device.add_fault("mount.nfs", effect)
    assert mounted.run(mounts=wanted, may_unmount=True, wait_s=limit_s(effect)).get("failed")
    assert mounted.drain() == f"{DRAINED}: {mounted.mount}" and mounted.marker.exists()
    assert mounted.slurm() == [f"update nodename=gpu01 state=drain reason={DRAINED}: {mounted.mount}"]
    mounted.device.clear_faults()
    assert converge(mounted, mounts=wanted)["steps"][-1] == "let Slurm use the node again"
    assert mounted.is_mounted() and mounted.drain() == "" and not mounted.marker.exists()


def test_a_drain_that_was_left_stays_while_the_mount_fails_again_or_its_change_waits(mounted: Site) -> None:
    wanted = [mounted.wanted(nconnect=4)]
    mounted.device.add_fault("mount.nfs", "drift")
    assert mounted.run(mounts=wanted, may_unmount=True).get("failed")
    mounted.write("jobs", "77\n")
    waits = mounted.run(mounts=wanted)
    assert not waits.get("failed") and not waits["steps"] and len(waits["pending"]) == 2
    assert mounted.drain().startswith(DRAINED)
    mounted.write("jobs")
    with (Path(mounted.mount) / "busy").open("w"):
        assert mounted.run(mounts=wanted).get("failed")
    assert mounted.drain().startswith(DRAINED)
    mounted.device.add_fault("mount.nfs", "refuse")
    assert mounted.run(mounts=wanted).get("failed") and mounted.drain().startswith(DRAINED)


def test_a_stale_mount_is_made_again_on_a_drained_node(mounted: Site) -> None:
    mounted.device.add_fault("stat", "refuse")
    refused = mounted.run()
    assert refused.get("failed") and "drain it first: scontrol update nodename=gpu01" in refused["msg"]
    assert refused["left"] == [f"{first(mounted)} again: it has a stale file handle"]
    mounted.write("drain", "for the change")
    mounted.device.add_fault("stat", "refuse")
    assert mounted.run()["steps"] == refused["left"] and mounted.verbs() == ["start", "stop", "start"]


@pytest.mark.parametrize("check", [True, False])
@meet_faults("site")
def test_a_hung_server_does_not_hang_the_module(mounted: Site, check: bool) -> None:
    mounted.device.add_fault("stat", "hang", times=None)
    begun_s = time.monotonic()
    refused = mounted.run(check, probe_s=SHORT_S)
    assert time.monotonic() - begun_s < LONG_S
    assert refused.get("failed") and not refused["changed"] and mounted.verbs() == ["start"]
    told = f"{SOURCE} at {mounted.mount} gave no answer within {SHORT_S} s; check the server and the network to it"
    assert told in refused["msg"]
    mounted.device.clear_faults()
    assert mounted.run()["steps"] == []


@pytest.mark.parametrize(
    ("effect", "told"), [("refuse", "nfsstat failed: nfsstat: /proc/mounts"), ("hang", "nfsstat gave no answer within")]
)
@meet_faults("site")
def test_an_unreadable_table_is_an_error_and_changes_nothing(mounted: Site, effect: str, told: str) -> None:
    mounted.host.arm("nfs", "nfsstat", effect)
    failed = mounted.run(mounts=[])
    assert failed.get("failed") and told in failed["msg"] and failed["cmd"] == ["nfsstat", "-m"]
    assert mounted.is_mounted() and mounted.verbs() == ["start"]
