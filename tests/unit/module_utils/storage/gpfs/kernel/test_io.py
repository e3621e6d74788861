# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Modules by their age, and what the compiler says. The emulated mmbuildgpl is in test_mm_software.py."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Completed
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import (
    DeviceError,
    converge,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.kernel.io import (
    MODULES,
    KernelModules,
    KernelPlaces,
)
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.storage.gpfs.kernel.plan import (
    KernelState,
    plan,
)

from tests.unit.module_utils.answers import Answers

KERNEL = "6.8.0-41-generic"
WANT = KernelState(KERNEL, release="5.2.3-0")


@pytest.fixture
def places(tmp_path: Path) -> KernelPlaces:
    for folder in ("bin", f"modules/{KERNEL}/build/include", f"modules/{KERNEL}/extra"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "osrelease").write_text(f"{KERNEL}\n")
    (tmp_path / "bin/mmfsd").touch()
    return KernelPlaces(tmp_path / "osrelease", tmp_path / "modules", tmp_path / "bin")


def build(places: KernelPlaces) -> None:
    for name in MODULES:
        path = places.modules / KERNEL / "extra" / name
        path.unlink(missing_ok=True)
        path.touch()


def test_modules_are_built_once(places: KernelPlaces) -> None:
    def run(argv: Sequence[str], ok: tuple[int, ...] = (0,)) -> Completed:
        build(places)
        return Completed(0, "", "")

    device = KernelModules(run, WANT, places)
    assert converge(device, plan, WANT).steps == [f"build GPFS's kernel modules for kernel {KERNEL}"]
    assert converge(device, plan, WANT).steps == []


def test_modules_of_an_older_release_do_not_fit(places: KernelPlaces) -> None:
    build(places)
    device = KernelModules(Answers({}), WANT, places)
    assert device.read().built
    (places.modules / KERNEL / "extra" / MODULES[0]).unlink()
    assert not device.read().built


def test_a_failed_build_names_kernel_version_and_the_first_cause(places: KernelPlaces) -> None:
    said = "make World ...\nkdump.c: fatal error: libelf.h\n"
    run = Answers({f"{places.programs}/mmbuildgpl": DeviceError("mmbuildgpl failed", rc=1, stdout=said, stderr="")})
    outcome = converge(KernelModules(run, WANT, places), plan, WANT)
    assert f"kernel {KERNEL}: mmbuildgpl of GPFS 5.2.3-0 failed: kdump.c: fatal error: libelf.h" in outcome.error
