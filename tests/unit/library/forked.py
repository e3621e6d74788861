# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""Emulated tools at the price of a fork: Python and the emulators are in this process already.

Pipes, sessions, time limits and kills stay those of a program. tests/lab/emulators starts the programs themselves.
"""

from __future__ import annotations

import gc
import importlib
import os
import shutil
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from ansible_collections.drawbridge.drawbridge.plugins.module_utils.drawbridge.core.command import Child

from lab.emulators import common

LAUNCHER = Path(__file__).resolve().parents[3] / "lab/emulators/launch"
"""What each emulated tool is a link to."""
DESCRIPTORS = 4096
"""More than a test has open."""


class Forked(Child):
    """A started program; an emulated tool begins where Python would be done with its imports."""

    def __init__(self, argv: Sequence[str], *args: Any, **streams: Any) -> None:
        if Path(shutil.which(argv[0]) or "").resolve() == LAUNCHER:
            streams["preexec_fn"] = partial(_become, _main_of(Path(argv[0]).name), list(argv))
        super().__init__(argv, *args, **streams)


def _main_of(name: str) -> Callable[[str, list[str]], int]:
    family = common.family(name)
    assert family, f"{name} is no emulated tool"
    module = importlib.import_module(f"{common.__package__}.{common.SUBSYSTEMS[family]}.{family}")
    main: Callable[[str, list[str]], int] = module.main
    return main


def _become(main: Callable[[str, list[str]], int], argv: Sequence[str]) -> NoReturn:
    """In the child, where the program would be executed: be the program, to its end."""
    gc.disable()  # a collection would write to, and so copy, all that the parent has
    os.closerange(3, DESCRIPTORS)  # the parent waits for the end of one of them: it is closed by an execution
    os.environ["LC_ALL"] = "C"
    # pytest has put its own objects in their place
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(at, mode, encoding="utf-8") for at, mode in enumerate("rww"))
    code: object = 1
    try:
        code = main(Path(argv[0]).name, list(argv[1:]))
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else int(code is not None))
