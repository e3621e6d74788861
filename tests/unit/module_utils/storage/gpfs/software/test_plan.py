# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.pinned_packages.plan import (
    PinnedState,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.kernel.plan import (
    KernelState,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.software.plan import (
    SoftwareState,
    plan,
)

from tests.unit.module_utils.steps import after

KERNEL = "6.8.0-41-generic"
NAMES = frozenset({"gpfs.base", "gpfs.gpl"})
TOOLS = frozenset({"make", f"linux-headers-{KERNEL}"})
WANT = SoftwareState(PinnedState(dict.fromkeys(NAMES, "5.2.3-0"), NAMES), KernelState(KERNEL, release="5.2.3-0"), TOOLS)


def state(version: str, built: bool = False, tools: frozenset[str] = frozenset()) -> SoftwareState:
    held = NAMES if version else frozenset[str]()
    modules = KernelState(KERNEL, built, "5.2.3-0", headers=bool(tools))
    return SoftwareState(PinnedState(dict.fromkeys(NAMES, version), held), modules, tools)


def test_a_bare_host_gets_packages_compilers_and_modules_with_the_consent_to_the_licence() -> None:
    steps = plan(state(""), WANT)
    assert [step.payload[0] for step in steps] == ["packages", "packages", "tools", "modules"]
    assert [step.consent.option for step in steps if step.consent] == ["accept_license"]
    assert plan(after(steps, state("")), WANT) == []


def test_another_version_needs_its_own_consent_and_disturbs_and_builds_again() -> None:
    steps = plan(state("5.1.9-0", built=True, tools=TOOLS), WANT)
    assert [step.consent.option for step in steps if step.consent] == ["may_upgrade"]
    assert steps[-1].payload[0] == "modules" and all(step.disturbs for step in steps if step.consent)


def test_a_new_kernel_needs_no_consent() -> None:
    steps = plan(state("5.2.3-0", tools=TOOLS), WANT)
    assert [(step.payload[0], step.consent) for step in steps] == [("modules", None)]


def test_headers_of_a_kernel_whose_modules_exist_are_not_installed() -> None:
    assert plan(state("5.2.3-0", built=True, tools=frozenset({"make"})), WANT) == []
