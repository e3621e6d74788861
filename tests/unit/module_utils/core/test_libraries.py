# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import sys

import pytest
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.converge import DeviceError
from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.libraries import library


def test_a_library_is_the_module_itself() -> None:
    assert library("json") is json


def test_the_first_use_of_a_missing_one_names_it_and_the_python_that_lacks_it() -> None:
    absent = library("no_such_library.part")
    with pytest.raises(DeviceError) as refused:
        absent.connect()
    assert str(refused.value) == (
        f"the Python that runs Ansible, {sys.executable}, has no no_such_library; install requirements.lock into it"
    )
