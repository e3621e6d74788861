# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""One list of nodes at a look, few patches after it, and an API server that does not answer."""

from __future__ import annotations

import itertools
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller import kube_io
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.kube import Last
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.controller.kube_io import (
    Access,
    Looked,
    look,
    report,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.decide import Seen
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.finding import Finding, reason
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.health.model import Health

from tests.unit.module_utils.health.fake_api import FakeApi, serving

NOW = 1764410400.0
HEALTH = Health(conditions=("GpuXidError",))
SICK = Finding("GpuXidError: XID 79")
DRAINED = Seen("gpu01", "IDLE", frozenset({"DRAIN"}), reason([SICK]))


def node(name: str, *conditions: dict[str, Any]) -> dict[str, Any]:
    ready = {"type": "Ready", "status": "True"}
    return {"metadata": {"name": name}, "spec": {}, "status": {"conditions": [ready, *conditions]}}


@pytest.fixture
def api(tmp_path: Path) -> Iterator[FakeApi]:
    with serving(tmp_path) as made:
        made.nodes = {f"gpu{at:02}": node(f"gpu{at:02}") for at in range(1, 6)}
        made.nodes["gpu01"] = node("gpu01", {"type": "GpuXidError", "status": "True", "message": "XID 79"})
        yield made


def access(api: FakeApi, token: str = "secret-1") -> Access:
    file = api.ca_file.with_name("health.token")
    file.write_text(f"{token}\n")
    return Access(api.url, str(api.ca_file), str(file))


def kept(api: FakeApi) -> Path:
    return api.ca_file.with_name("kubernetes.json")


def looked(api: FakeApi, now: float = NOW, slurm: Any = (DRAINED,)) -> Looked:
    return look(access(api), HEALTH, slurm, kept(api), now)


def own(api: FakeApi, name: str) -> dict[str, Any]:
    """The condition without its times."""
    found = {it["type"]: it for it in api.nodes[name]["status"]["conditions"]}.get("DrawbridgeHealth", {})
    return {key: found[key] for key in ("status", "reason", "message")} if found else {}


def test_all_nodes_are_listed_once_on_one_connection(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kube_io, "PAGE", 2)
    found = looked(api)
    assert (dict(found.found), [it.name for it in found.nodes], found.said) == (
        {"gpu01": (SICK,)},
        sorted(api.nodes),
        (),
    )
    assert [(method, bearer) for method, _path, bearer in api.asked] == [("GET", "Bearer secret-1")] * 3
    assert [path for _method, path, _bearer in api.asked] == [
        "/api/v1/nodes?limit=2",
        "/api/v1/nodes?limit=2&continue=2",
        "/api/v1/nodes?limit=2&continue=4",
    ]
    assert len(api.connections) == 1
    assert kept(api).stat().st_mode & 0o777 == 0o600


def test_conditions_that_differ_are_written_once(api: FakeApi) -> None:
    slurm = [DRAINED, *(Seen(name, "IDLE") for name in ("gpu02", "gpu03", "elsewhere"))]
    api.nodes["gpu05"]["status"]["conditions"].append({"type": "DrawbridgeHealth", "status": "True"})
    assert report(access(api), looked(api), slurm, NOW) == ()
    assert own(api, "gpu01") == {"status": "True", "reason": "Drained", "message": DRAINED.reason}
    assert own(api, "gpu02") == own(api, "gpu03") == {"status": "False", "reason": "Healthy", "message": "no findings"}
    # not Slurm's
    assert own(api, "gpu04") == own(api, "gpu05") == {}
    assert [it["type"] for it in api.nodes["gpu01"]["status"]["conditions"]] == [
        "Ready",
        "GpuXidError",
        "DrawbridgeHealth",
    ]
    wrote = [path for method, path, _bearer in api.asked if method == "PATCH"]
    assert wrote == [
        f"/api/v1/nodes/{it}/status?fieldManager=drawbridge-health" for it in ("gpu01", "gpu02", "gpu03", "gpu05")
    ]
    api.asked.clear()
    kept(api).unlink()
    assert report(access(api), looked(api, NOW + 30), slurm, NOW + 30) == ()
    assert [method for method, _path, _bearer in api.asked] == ["GET"]


def test_a_look_writes_a_bounded_number(api: FakeApi) -> None:
    slurm = [Seen(name, "IDLE") for name in api.nodes]
    report(access(api), looked(api), slurm, NOW, 2)
    assert [bool(own(api, name)) for name in sorted(api.nodes)] == [True, True, False, False, False]


def test_without_records_of_slurm_no_condition_is_taken_away(api: FakeApi) -> None:
    api.nodes["gpu05"]["status"]["conditions"].append({"type": "DrawbridgeHealth", "status": "True"})
    assert report(access(api), looked(api), [], NOW) == ()
    assert [method for method, _path, _bearer in api.asked] == ["GET"]


def test_an_expensive_look_counts_for_a_while(api: FakeApi) -> None:
    kept(api).write_text(Last(NOW, 6.0, {"gpu02": (SICK,)}).text())
    assert looked(api, NOW + 60) == Looked({"gpu02": (SICK,)})
    assert api.asked == []
    assert dict(looked(api, NOW + 121).found) == {"gpu01": (SICK,)}


ANSWERS = {
    "refused": (403, {"message": "nodes is forbidden"}, "the API server lists no nodes: nodes is forbidden"),
    "a token that ended": (401, {"message": "Unauthorized"}, "the API server lists no nodes: Unauthorized"),
    "another page": (200, b"<html>login</html>", "answer is no list of nodes"),
    "a list": (200, b"[]", "answer is no list of nodes"),
    "another object": (200, {"metadata": {}}, "answer is no list of nodes"),
    "other objects": (200, {"metadata": {}, "items": [{}]}, "not a Node object"),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_without_a_list_the_last_findings_count(api: FakeApi, name: str) -> None:
    status, body, why = ANSWERS[name]
    api.refuse = lambda method, path: (status, body)
    found = looked(api)
    # from the drain's reason, without a file of the last look
    assert (dict(found.found), found.nodes) == ({"gpu01": (SICK,)}, ())
    assert (
        len(found.said) == 1
        and found.said[0].startswith("conditions and cordons count as before: ")
        and why in found.said[0]
    )
    assert not kept(api).exists()
    kept(api).write_text(Last(0.0, 0.0, {"gpu04": (SICK,)}).text())
    assert dict(looked(api).found) == {"gpu04": (SICK,)}
    assert report(access(api), found, [DRAINED], NOW) == ()


def test_the_last_page_missing_is_no_list(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes of pages that came would be all nodes, and the others without findings."""
    monkeypatch.setattr(kube_io, "PAGE", 2)
    api.refuse = lambda method, path: (
        (410, {"message": "The provided continue parameter is too old"}) if "=4" in path else None
    )
    found = looked(api)
    assert (found.nodes, "too old" in found.said[0]) == ((), True)


def test_a_server_with_another_certificate_gets_no_token(tmp_path: Path) -> None:
    with serving(tmp_path, "192.0.2.1") as api:
        found = looked(api)
        assert (api.asked, dict(found.found)) == ([], {"gpu01": (SICK,)})
    assert "CERTIFICATE_VERIFY_FAILED" in found.said[0] or "certificate" in found.said[0]


def test_nothing_listens_or_no_token_is_there(api: FakeApi) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    where = Access(f"https://127.0.0.1:{port}", str(api.ca_file), access(api).token_file)
    found = look(where, HEALTH, [DRAINED], kept(api), NOW)
    assert f"the API server at 127.0.0.1:{port} does not answer: ConnectionRefusedError" in found.said[0]
    no_token = Access(api.url, str(api.ca_file), str(api.ca_file.with_name("absent")))
    assert "absent" in look(no_token, HEALTH, [DRAINED], kept(api), NOW).said[0]
    assert "absent" in report(no_token, looked(api), [DRAINED], NOW)[0]
    broken = access(api, "a\nb")
    assert look(broken, HEALTH, [DRAINED], kept(api), NOW).nodes == ()


def test_an_answer_that_never_ends_is_given_up(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    api.drips = True
    clock = itertools.count(0, 7)
    monkeypatch.setattr(kube_io, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    found = looked(api)
    assert found.nodes == () and "does not end" in found.said[0]


def test_a_refused_patch_is_said_and_the_others_are_written(api: FakeApi) -> None:
    slurm = [Seen(name, "IDLE") for name in api.nodes]
    why = "ValidatingAdmissionPolicy 'drawbridge-health' denied request"
    api.refuse = lambda method, path: (422, {"message": why}) if "gpu02/" in path else None
    found = looked(api)
    del api.nodes["gpu04"]  # it left meanwhile, which is no refusal
    assert report(access(api), found, slurm, NOW) == (f"1 of 5 conditions of nodes were refused, gpu02: {why}",)
    assert [bool(own(api, name)) for name in ("gpu01", "gpu02", "gpu03", "gpu05")] == [True, False, True, True]


def test_a_server_that_falls_silent_ends_the_writing(api: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    slurm = [Seen(name, "IDLE") for name in api.nodes]
    found = looked(api)
    clock = itertools.chain([0.0, 1.0, 1.0], itertools.repeat(100.0))
    monkeypatch.setattr(kube_io, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    [said] = report(access(api), found, slurm, NOW)
    assert "not all conditions of nodes were written" in said and "takes too long" in said
    assert [method for method, _path, _bearer in api.asked] == ["GET", "PATCH"]


def test_a_file_that_can_not_be_written_is_said(api: FakeApi) -> None:
    found = look(access(api), HEALTH, [], api.ca_file / "no folder", NOW)
    assert dict(found.found) == {"gpu01": (SICK,)}
    assert found.said[0].startswith("the next look won't know this one: ")


def test_findings_are_kept_as_text(api: FakeApi) -> None:
    looked(api)
    assert json.loads(kept(api).read_text())["found"] == {"gpu01": ["GpuXidError: XID 79"]}
