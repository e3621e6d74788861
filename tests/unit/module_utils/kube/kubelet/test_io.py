# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.api.host import Server
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    Outcome,
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet import (
    health_io as kubelet_health,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet import io as adapter
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.health_io import Health
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.io import Kubelet, Places
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.plan import (
    KubeletState,
    plan,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.kubelet.text import render
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.kube.node_object_io import (
    NodeObject,
    NodeStatus,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes import use_io as node_use
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.nodes.use_io import REASON, NodeUse

WANT = KubeletState(render({"cpuManagerPolicy": "static"}), enabled=True, running=True, current=True)
CHANGED = replace(WANT, lines_of_file=render({"cpuManagerPolicy": "none"}))
FREE = Completed(0, "", "")
STARTED = {"systemctl start", "systemctl enable"}
GOOD = (
    'E1121 run.go:72] "command failed" err="failed to run Kubelet: invalid kubeconfig: stat /nonexistent: no such file"'
)
BAD = 'E1121 run.go:72] "command failed" err="unknown policy: \\"statik\\""'


class Node:
    """A node with systemd, a kubelet and Slurm, as far as commands show them."""

    journal = ""
    on_start: Any = None

    def __init__(self, says: str = GOOD) -> None:
        self.enabled, self.started_us, self.says = False, 0, says
        self.queue = FREE
        self.ran: list[str] = []
        self.reason = ""

    def __call__(self, argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        self.ran.append(" ".join(argv[:2]))
        if argv[0] == "kubelet":
            folder = next(word for word in argv if word.startswith("--config-dir=")).partition("=")[2]
            assert (Path(folder) / "50-drawbridge.conf").read_text().startswith("# Written")
            return Completed(1, "", f"I1121 flags\n{self.says}\n")
        if argv[0] == "squeue":
            if self.queue.rc:
                raise DeviceError("squeue failed: no answer")
            return self.queue
        if argv[0] == "journalctl":
            return Completed(0, self.journal, "")
        if argv[:2] == ["scontrol", "update"]:
            self.reason = argv[-1].partition("=")[2] if "drain" in argv[3] and "undrain" not in argv[3] else ""
            return Completed(0, "", "")
        if argv[0] == "scontrol":
            state = "IDLE+DRAIN" if self.reason else "IDLE"
            return Completed(0, f"NodeName=gpu01 State={state} Reason={self.reason} [root@now]", "")
        if argv[1] == "enable":
            self.enabled = True
        if argv[1] in ("start", "stop"):
            self.started_us = int(time.monotonic() * 1e6) + 1 if argv[1] == "start" else 0
            if argv[1] == "start" and self.on_start:
                self.on_start()
        active = "active" if self.started_us else "inactive"
        unit = f"UnitFileState={'enabled' if self.enabled else 'disabled'}\nActiveState={active}\n"
        return Completed(0, f"{unit}ExecMainStartTimestampMonotonic={self.started_us}\nMainPID=77\n", "")


def closed(node: Any) -> NodeStatus:
    """The API server's answer for a node that is Ready and closed to pods."""
    return NodeStatus(True, "closed", True, time.time() + 1)


def converged(kubelet: Kubelet, want: KubeletState, **options: bool) -> Outcome:
    """What the module does."""
    return converge(kubelet, plan, want, in_use=kubelet.in_use, options=options)


@pytest.fixture
def device(tmp_path: Path, monkeypatch: Any) -> Any:
    monkeypatch.setattr(kubelet_health, "POLL_S", 0)
    monkeypatch.setattr(kubelet_health, "HEALTHY_CHECKS", 1)
    monkeypatch.setattr(node_use.shutil, "which", lambda name: name)

    def make(
        node: Node, want: KubeletState = WANT, gate: Any = closed, member: bool = True, of_site: bool = False
    ) -> Kubelet:
        places = Places(
            tmp_path / "conf.d/50-drawbridge.conf",
            tmp_path / "config.yaml",
            tmp_path,
            tmp_path / "proc",
            tmp_path / "unit.d/50.conf",
        )
        certificate = tmp_path / "kubelet.pem"
        monkeypatch.setattr(Health, "ok", lambda self: bool(node.started_us))
        if member:
            certificate.write_text("")
            places.main_config.write_text("")
        monkeypatch.setattr(NodeObject, "read", gate)
        own = NodeObject(Server("https://api", "ca"), certificate, "gpu01")
        use = NodeUse(node, "gpu01", tmp_path / "pods", tmp_path / "marker")
        return Kubelet(places, want, node, use, own, Health(node, 0), of_site)

    return make


@pytest.fixture
def node(device: Any) -> Node:
    """One whose kubelet runs as wanted."""
    node = Node()
    assert converged(device(node), WANT).error == ""
    node.ran.clear()
    return node


@pytest.mark.parametrize("member", [True, False])
def test_a_host_gets_a_checked_drop_in_and_a_member_a_started_kubelet(
    device: Any, tmp_path: Path, member: bool
) -> None:
    node = Node()
    (tmp_path / "memory_manager_state").write_text('{"policyName": "Static", "machineState": {}}')
    (tmp_path / "cpu_manager_state").write_text('{"policyName": "static", "defaultCpuSet": "0-7"}')
    outcome = converged(device(node, member=member), WANT)
    assert not outcome.error and (tmp_path / "conf.d/50-drawbridge.conf").exists()
    assert member or outcome.steps == ["write the drop-in with 3 keys", "remove memory_manager_state"]
    assert not (tmp_path / "memory_manager_state").exists(), "the kubelet that is started next would die of it"
    assert (tmp_path / "cpu_manager_state").exists(), "what did not change stays: pods would lose their CPUs"
    assert {"systemctl start", "systemctl enable"} & set(node.ran) == (STARTED if member else set())
    node.ran.clear()
    assert converged(device(node, member=member), WANT).steps == []
    assert node.ran == ["systemctl show"]


def test_what_the_kubelet_refuses_is_never_written(device: Any, tmp_path: Path) -> None:
    outcome = converged(device(Node(BAD)), WANT)
    assert "the kubelet refuses this configuration" in outcome.error
    assert "unknown policy: 'statik'" in outcome.error
    assert not (tmp_path / "conf.d").exists()
    assert not outcome.changed


def test_a_file_that_is_newer_than_the_kubelet_needs_a_restart(device: Any, node: Node, tmp_path: Path) -> None:
    node.started_us -= 60_000_000
    assert converged(device(node), WANT).steps == ["drain the node, restart the kubelet with it, resume"]
    assert [line for line in node.ran if "update" in line] == ["scontrol update", "scontrol update"]
    assert node.reason == ""


def test_a_slow_look_at_two_clocks_restarts_nothing(device: Any, node: Node, monkeypatch: Any) -> None:
    lost = itertools.count(1)
    slow = SimpleNamespace(time=lambda: time.time() + next(lost), monotonic=lambda: time.monotonic() + next(lost))
    monkeypatch.setattr(adapter, "time", slow)
    assert converged(device(node), WANT).steps == []


def test_a_first_drop_in_that_fails_leaves_no_jobs_on_a_node_without_a_kubelet(
    device: Any, monkeypatch: Any, tmp_path: Path
) -> None:
    """It ran before, without any: what it would be born as without ours is open, so it stays stopped."""
    node = Node()
    node.started_us = 1
    kubelet = device(node)
    monkeypatch.setattr(Health, "ok", lambda self: not (tmp_path / "conf.d/50-drawbridge.conf").exists())
    outcome = converged(kubelet, WANT)
    assert outcome.error.endswith("it is stopped, and Slurm keeps the node drained")
    assert (node.started_us, node.reason) == (0, REASON)
    monkeypatch.setattr(Health, "ok", lambda self: bool(node.started_us))
    assert converged(kubelet, WANT).error == ""
    assert (node.started_us > 0, node.reason) == (True, "")


def test_one_that_ran_before_gets_its_old_content_back(
    device: Any, node: Node, monkeypatch: Any, tmp_path: Path
) -> None:
    before = (tmp_path / "conf.d/50-drawbridge.conf").read_text()
    kubelet = device(node, CHANGED)
    file = tmp_path / "conf.d/50-drawbridge.conf"
    # the first look is the one that says whether jobs have to be kept off; going back takes more than one
    answers = itertools.chain([True, False], itertools.repeat(True))
    monkeypatch.setattr(Health, "ok", lambda self: file.read_text() == before and next(answers))
    outcome = converged(kubelet, CHANGED)
    assert outcome.error.endswith("it runs with its old configuration again")
    assert file.read_text() == before
    assert node.reason == ""
    assert not (tmp_path / "marker").exists()


def no_answer(_node: Any) -> NodeStatus:
    raise DeviceError("no answer")


@pytest.mark.parametrize(
    ("queue", "gate", "reason"),
    [
        (Completed(0, "4711\n", ""), closed, "Slurm job 4711 is on this node"),
        (Completed(1, "", ""), closed, "Slurm gave no list"),
        (FREE, lambda _: NodeStatus(True, "vision.7"), "the gate has not closed this node yet"),
        (FREE, no_answer, "the API server does not show whether this node is in use"),
    ],
)
def test_a_node_in_use_or_one_that_the_gate_has_not_closed_is_left_alone(
    device: Any, node: Node, queue: Completed, gate: Any, reason: str
) -> None:
    node.queue = queue
    outcome = converged(device(node, CHANGED, gate), CHANGED)
    assert (outcome.changed, outcome.error) == (False, "")
    assert reason in outcome.pending[0]


@pytest.mark.parametrize("down", [False, True])
def test_a_closed_node_is_drained_changed_and_proven_ready(device: Any, node: Node, down: bool) -> None:
    """Jobs are kept off a kubelet that is down, too, while it changes."""
    seen = []
    node.started_us *= not down

    def gate(self: Any) -> NodeStatus:
        seen.append(node.reason)
        return closed(self)

    outcome = converged(device(node, CHANGED, gate), CHANGED)
    assert (outcome.error, outcome.left) == ("", [])
    assert seen == ["", REASON], "closed before it is drained, Ready before it is resumed"
    assert node.reason == ""


def test_a_run_that_broke_off_is_ended_by_the_next(device: Any, node: Node, tmp_path: Path) -> None:
    (tmp_path / "marker").write_text("")
    node.reason = REASON
    outcome = converged(device(node), WANT)
    assert outcome.steps == ["let Slurm use the node again"]
    assert node.reason == ""
    assert converged(device(node), WANT).steps == []


FOLDER = "{tmp}/conf.d"


def started_by_site(tmp_path: Path, *words: str, variable: str = "") -> Node:
    """A node whose kubelet runs with this command line, and with a variable of its unit."""
    node = Node()
    node.started_us = int(time.monotonic() * 1e6)
    (tmp_path / "proc/77").mkdir(parents=True)
    (tmp_path / "proc/77/cmdline").write_text("".join(f"{word}\0" for word in words))
    (tmp_path / "proc/77/environ").write_text(f"PATH=/bin\0{variable}")
    return node


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["kubelet", f"--config-dir={FOLDER}"], ""),
        (["kubelet", "--config-dir", FOLDER, "--v=2"], ""),
        (["kubelet", "--config=/x"], "reads no drop-ins"),
        (["kubelet", "--config-dir", "/other"], "reads drop-ins of /other"),
    ],
)
def test_a_kubelet_of_the_site_that_would_not_read_us_is_refused(
    device: Any, tmp_path: Path, words: list[str], told: str
) -> None:
    node = started_by_site(tmp_path, *(word.replace("{tmp}", str(tmp_path)) for word in words))
    if not told:
        assert converged(device(node, of_site=True), WANT).error == ""
        return
    with pytest.raises(DeviceError, match=f"{told}, .*start it with --config-dir={tmp_path}/conf.d yourself"):
        converged(device(node, of_site=True), WANT)
    assert not (tmp_path / "conf.d").exists()
    assert node.ran == ["systemctl show"], "nothing was drained"


def test_the_running_kubelets_own_files_count(device: Any, tmp_path: Path) -> None:
    """Kubespray, RKE2 and k0s have others than kubeadm."""
    (tmp_path / "own.yaml").write_text("")
    (tmp_path / "root").mkdir()
    state = tmp_path / "root/memory_manager_state"
    state.write_text('{"policyName": "Static", "machineState": {}}')
    words = (f"--config={tmp_path}/own.yaml", f"--root-dir={tmp_path}/root", f"--config-dir={tmp_path}/conf.d")
    node = started_by_site(tmp_path, "kubelet", *words)
    assert converged(device(node, of_site=True), WANT).error == ""
    assert f"kubelet --config={tmp_path}/own.yaml" in node.ran
    assert not state.exists()


def of_kubeadm(tmp_path: Path) -> Node:
    """A kubelet of kubeadm's unit, which starts the next one with its drop-in's words."""
    words = ("kubelet", "--kubeconfig=/k", "--config=/c")
    node = started_by_site(tmp_path, *words, variable="KUBELET_CONFIG_ARGS=--config=/c\0")

    def started(*_: Any) -> None:
        if (unit := tmp_path / "unit.d/50.conf").exists():
            words = unit.read_text().partition("KUBELET_CONFIG_ARGS=")[2].partition('"')[0]
            (tmp_path / "proc/77/cmdline").write_text("\0".join(["kubelet", *words.split()]))

    node.on_start = started
    return node


def test_kubeadms_kubelet_gets_the_flag_with_consent_alone(device: Any, tmp_path: Path) -> None:
    node = of_kubeadm(tmp_path)
    refused = converged(device(node, of_site=True), WANT)
    assert (refused.changed, refused.error.endswith("set may_add_config_dir: true")) == (False, True), refused.error
    assert not (tmp_path / "unit.d").exists() and "systemctl stop" not in node.ran
    outcome = converged(device(node, of_site=True), WANT, may_add_config_dir=True)
    assert outcome.error == ""
    assert outcome.steps[1:] == [
        "add --config-dir to the unit",
        "start the kubelet at boot",
        "drain the node, restart the kubelet with it, resume",
    ]
    assert node.ran.index("systemctl daemon-reload") < node.ran.index("systemctl stop")
    assert (node.reason, converged(device(node, of_site=True), WANT).steps) == ("", [])
