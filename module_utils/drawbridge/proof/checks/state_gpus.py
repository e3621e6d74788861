# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""State checks of a node's GPUs. One call of the vendor's tool, or the kernel's files, answers most of them.

Equal programs run once, and each file is read once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import mode
from typing import Callable, Union

from ...nodes.gpus import state
from ...nodes.gpus.state import REBOOT, REPAIR, GpuState, StateReader, ends_of
from ...nodes.gpus.states import STATES
from ..gpu_models import gpu_model
from ..measure import Found, Missing, Remark
from ..node import ProofNode
from ..tools.output import first_line, not_recognised, stopped
from .check import STATE, WATCH, Check, Output, Program, Texts
from .state_instances import MEANING, NEEDS, WHOLE, not_whole, stays_whole
from .tools import program

NOT_COVERED = "not covered"
"""Name of a measurement that Drawbridge does not have for the vendor; it only warns."""
PERSISTENCE = "GPU persistence"
"""Without it, jobs run all the same: it only warns."""
SECONDS = 60
"""A driver whose GPU hangs answers late or never."""
PRESENT, LINKS, LOG = "GPUs present", "GPU link state", "GPU faults in the log"
Why = Union[None, str, tuple[str, str]]
Sees = Callable[[ProofNode, GpuState], Why]
"""The fault of one GPU, None without one. With what ends it, where being gone is not enough."""


def reader(node: ProofNode) -> StateReader | None:
    """The vendor's; None: Drawbridge has none for it."""
    return STATES.get(node.gpu_vendor)


def _programs(*values: str) -> Callable[[ProofNode], Sequence[Program]]:
    """Those that the vendor needs for these values."""
    return lambda node: [program(argv, SECONDS) for argv in own.calls(values)] if (own := reader(node)) else []


def _files(node: ProofNode) -> Sequence[str]:
    return own.files if (own := reader(node)) else ()


def _read(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> tuple[list[GpuState], str]:
    """GPUs, or the reason why there are none."""
    own = reader(node)
    if not own:
        return [], f"Drawbridge reads no GPUs of the vendor {node.gpu_vendor or '(none)'}"
    for output in outputs:
        if why := stopped(output.code) or (
            not_recognised(output.code, output.stdout, output.stderr) if output.code else ""
        ):
            return [], why
    try:
        return own.read([output.stdout for output in outputs], texts), ""
    except ValueError as err:
        said = [not_recognised(output.code, output.stdout, output.stderr) for output in outputs[:1]]
        return [], "; ".join([*said, first_line(str(err))])


def _present(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    gpus, why = _read(node, outputs, texts)
    if why:
        return [Missing(PRESENT, node.name, why)]
    if len(gpus) == node.gpus:
        return []
    addresses = ", ".join(str(gpu.values.get(state.PCI)) for gpu in gpus) or "none"
    why = f"the driver has {len(gpus)} GPUs of {node.gpus} ({addresses})"
    return [Remark(PRESENT, node.name, why, ends=REBOOT if len(gpus) < node.gpus else "")]


def _of_each(name: str, needs: Sequence[str], sees: Sees, also: Sequence[str] = ()) -> Callable[..., list[Found]]:
    """The check that applies `sees` to each GPU. A value that was not recognised is Missing.

    Without a value of `needs` the vendor is not covered. Not all vendors have those of `also`.
    """

    def found(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
        own = reader(node)
        if own and not own.covers.issuperset(needs):
            return [Missing(NOT_COVERED, f"class {node.node_class}", f"{name}: not read of GPUs of {node.gpu_vendor}")]
        gpus, why = _read(node, outputs, texts)
        if why or not gpus:
            return [Missing(name, node.name, f"no GPU could be read: {why or 'the driver has none'}")]
        return list(_found(name, (*needs, *also), sees, node, gpus))

    return found


def _found(name: str, needs: Sequence[str], sees: Sees, node: ProofNode, gpus: Sequence[GpuState]) -> Iterator[Found]:
    for gpu in gpus:
        where = f"{node.name} GPU {gpu.index}"
        if odd := [key for key in needs if key in gpu.unknown]:
            yield Missing(name, where, f"not recognised: {first_line(gpu.unknown[odd[0]])}")
        elif why := sees(node, gpu):
            text, ends = why if isinstance(why, tuple) else (why, "")
            yield Remark(name, where, text, name == PERSISTENCE, ends)


def _product(node: ProofNode, gpu: GpuState) -> Why:
    product = gpu.values[state.PRODUCT]
    return None if product == node.gpu_product else (f"it is {product}, the intent says {node.gpu_product}", REPAIR)


def _pcie(node: ProofNode, gpu: GpuState) -> Why:
    now = [gpu.values[key] for key in (state.GENERATION, state.WIDTH)]
    most = [gpu.values[key] for key in (state.MOST_GENERATION, state.MOST_WIDTH)]
    if None in (*now, *most):
        return "the driver does not say the generation or the width of its link"
    slow = now[0] != most[0] and gpu.values[state.ACTIVE]
    if not slow and now[1] == most[1]:
        return None
    return f"its link has {_link(now)}, the GPU has {_link(most)}"


def _link(numbers: Sequence[state.Read]) -> str:
    return f"Gen{numbers[0]:g} x{numbers[1]:g}"


def _fabric(node: ProofNode, gpu: GpuState) -> Why:
    values = [gpu.values[key] for key in (state.FABRIC, state.FABRIC_STATUS)]
    if values[0] is None:
        model = gpu_model(str(gpu.values.get(state.PRODUCT)))
        needed = model and (model.rack or (model.nvls_from and node.gpus >= model.nvls_from))
        return "the driver has no state of the fabric, but the GPUs are joined by switches" if needed else None
    if values[0] != "Completed" or values[1] not in ("Success", None):
        return f"the fabric's state is {values[0]}, its status {values[1]}"
    health = gpu.values[state.FABRIC_HEALTH]
    return None if health in ("Healthy", None) else f"the fabric's health is {health}"


def _ecc(node: ProofNode, gpu: GpuState) -> Why:
    errors = gpu.values[state.UNCORRECTED]
    if gpu.values.get(state.ECC) is False:
        return "ECC is off"
    if errors is None:
        return "the driver does not say the number of uncorrected errors"
    for words, ends in ((gpu.values.get(state.BEYOND_REPAIR), REPAIR), (gpu.values.get(state.REPAIR_WAITS), REBOOT)):
        if words:
            return f"it has {words}", ends
    return (f"{errors:g} uncorrected errors since the driver was loaded", REBOOT) if errors else None


def _rows(node: ProofNode, gpu: GpuState) -> Why:
    if gpu.values[state.REMAP_FAILED]:
        return "a memory row could not be remapped: replace the GPU", REPAIR
    if gpu.values.get(state.REMAP_PENDING):
        return "a remapped row waits for a reset of the GPU", REBOOT
    waiting = gpu.values.get(state.PAGES_WAIT)
    return f"{waiting:g} bad pages of its memory are still in use" if waiting else None


def _clocks(node: ProofNode, gpu: GpuState) -> Why:
    if slowed := gpu.values[state.SLOWED]:
        return f"clocks are lowered: {slowed}"
    now, default = gpu.values[state.CLOCK], gpu.values[state.DEFAULT_CLOCK]
    if now is not None and default is not None and float(now) < float(default):
        return f"applications get {now:g} MHz instead of {default:g} MHz"
    return None


def _power(node: ProofNode, gpu: GpuState) -> Why:
    now, default = gpu.values[state.POWER], gpu.values[state.DEFAULT_POWER]
    if now is None or default is None:
        return "the driver does not say the power limit"
    return f"its power limit is {now:g} W instead of {default:g} W" if float(now) < float(default) else None


def _persistence(node: ProofNode, gpu: GpuState) -> Why:
    return "the driver is unloaded between jobs" if gpu.values[state.PERSISTENT] is False else None


def _advice(node: ProofNode, gpu: GpuState) -> Why:
    advice = gpu.values[state.ADVICE]
    return None if advice in (None, "None") else (f"the driver asks for: {advice}", ends_of(str(advice)))


def _temperature(node: ProofNode, gpu: GpuState) -> Why:
    left = gpu.values[state.HEAT_LEFT]
    return None if left is None or float(left) > 0 else f"{left:g} C are left to the temperature where it slows down"


def _link_programs(node: ProofNode) -> Sequence[Program]:
    return [program(own.links, SECONDS)] if (own := reader(node)) and own.links else []


def _links(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    own = reader(node)
    if not own or not own.links:
        return [Missing(NOT_COVERED, f"class {node.node_class}", f"{LINKS}: not read of GPUs of {node.gpu_vendor}")]
    output = outputs[0]
    if why := stopped(output.code):
        return [Missing(LINKS, node.name, why)]
    try:
        links = own.read_links(output.stdout)
    except ValueError:
        return [Missing(LINKS, node.name, not_recognised(output.code, output.stdout, output.stderr))]
    return list(_bad_links(node, links))


def _bad_links(node: ProofNode, links: Mapping[int, Sequence[float]]) -> Iterator[Found]:
    """Against the most links and the usual rate of the node's own GPUs; its model says whether there must be any."""
    most = max(len(rates) for rates in links.values())
    model = gpu_model(node.gpu_product)
    if not most and model and model.link:
        yield Remark(LINKS, node.name, f"no link of its GPUs is up, {model.name} have them")
    up = [rate for rates in links.values() for rate in rates if rate]
    for gpu, rates in sorted(links.items()):
        where = f"{node.name} GPU {gpu}"
        down = [str(at) for at, rate in enumerate(rates) if not rate]
        slow = [f"{at} ({rate:g} GB/s)" for at, rate in enumerate(rates) if rate and rate < mode(up)]
        if len(rates) < most:
            yield Remark(LINKS, where, f"{len(rates)} of {most} links are up")
        if down:
            yield Remark(LINKS, where, f"links {', '.join(down)} are down")
        if slow:
            yield Remark(LINKS, where, f"slow links: {', '.join(slow)} instead of {mode(up):g} GB/s")


def _log(node: ProofNode, outputs: Sequence[Output], texts: Texts) -> list[Found]:
    own = reader(node)
    if not own or not own.read_log:
        return [Missing(NOT_COVERED, f"class {node.node_class}", f"{LOG}: not read of GPUs of {node.gpu_vendor}")]
    output = outputs[0]
    if output.code or not output.stdout.strip():
        why = stopped(output.code) or not_recognised(output.code, output.stdout, output.stderr)
        return [Missing(LOG, node.name, why)]
    entries = [entry for entry in own.read_log(output.stdout) if entry.felt or entry.warning]
    # one that the driver has lost has its address alone
    known = {gpu.values.get(state.PCI): str(gpu.index) for gpu in _read(node, outputs[1:], texts)[0]} if entries else {}
    return [
        Remark(
            LOG,
            f"{node.name} {entry.part} {known.get(entry.pci, entry.pci)}",
            f"{entry.code}, {entry.meaning}: {first_line(entry.text)}",
            entry.warning,
            entry.ends,
        )
        for entry in entries
    ]


def _has_gpus(node: ProofNode) -> bool:
    return node.gpus > 0


def _row(
    name: str,
    needs: Sequence[str],
    sees: Sees,
    meaning: str,
    applies: Callable[[ProofNode], bool] = _has_gpus,
    also: Sequence[str] = (),
    kind: str = STATE,
) -> Check:
    found = _of_each(name, needs, sees, also)
    return Check(name, kind, meaning, "GPUs", applies, found, _programs(*needs, *also), _files)


GPU_CHECKS: tuple[Check, ...] = (
    Check(
        PRESENT,
        STATE,
        "A GPU is missing, or the driver does not answer: look for the PCI address in lspci and for faults in the log.",
        "GPUs",
        _has_gpus,
        _present,
        _programs(state.PCI),
        _files,
    ),
    _row(
        "GPU product",
        (state.PRODUCT,),
        _product,
        "Another GPU is built in than the intent says: replace it, or correct the product of the node class.",
        lambda node: _has_gpus(node) and bool(node.gpu_product),
    ),
    _row(WHOLE, NEEDS, not_whole, MEANING, stays_whole),
    _row(
        "GPU PCIe",
        (state.GENERATION, state.WIDTH, state.MOST_GENERATION, state.MOST_WIDTH, state.ACTIVE),
        _pcie,
        "A GPU's link is slower than the GPU: reseat it, then look at slot, riser and BIOS.",
    ),
    Check(
        LINKS,
        STATE,
        "A link between GPUs is down or slow: reset the GPU; if it stays, replace the GPU or its board.",
        "GPUs",
        lambda node: node.gpus > 1,
        _links,
        _link_programs,
    ),
    _row(
        "GPU fabric",
        (state.FABRIC, state.FABRIC_STATUS, state.FABRIC_HEALTH),
        _fabric,
        "The switches between the GPUs are not ready: look at the unit of their manager and its version.",
        lambda node: node.gpus > 1,
    ),
    _row(
        "GPU memory errors",
        (state.UNCORRECTED,),
        _ecc,
        "Memory of a GPU has uncorrected errors, or ECC is off: reset the GPU; replace it if errors come back.",
        also=(state.ECC, state.BEYOND_REPAIR, state.REPAIR_WAITS),
    ),
    _row(
        "GPU memory rows",
        (state.REMAP_FAILED,),
        _rows,
        "A bad memory row waits for a reset of the GPU, or the GPU has no spare row left: then replace the GPU.",
        also=(state.REMAP_PENDING, state.PAGES_WAIT),
    ),
    _row(
        "GPU clocks",
        (state.SLOWED, state.CLOCK, state.DEFAULT_CLOCK),
        _clocks,
        "A GPU runs slower than it can: look at cooling and power supplies, then at clocks that someone set.",
    ),
    _row(
        "GPU power limit",
        (state.POWER, state.DEFAULT_POWER),
        _power,
        "Someone lowered the power limit of a GPU: set it to the default.",
    ),
    _row(
        PERSISTENCE,
        (state.PERSISTENT,),
        _persistence,
        "Jobs start slowly, and error counters are lost between jobs: enable the vendor's persistence daemon.",
    ),
    _row(
        "GPU recovery",
        (state.ADVICE,),
        _advice,
        "The driver itself asks for a reset or a reboot: do what it asks for.",
    ),
    Check(
        LOG,
        STATE,
        "The kernel's log has a fault of a GPU or a switch since boot: reboot once; replace the part if it comes back.",
        "GPUs",
        _has_gpus,
        _log,
        lambda node: [program(["dmesg"], 10), *_programs(state.PCI)(node)],
        _files,
    ),
)
WATCHED: tuple[Check, ...] = (
    _row(
        "GPU temperature",
        (state.HEAT_LEFT,),
        _temperature,
        "A GPU is so hot that it slows down: look at fans, airflow and coolant.",
        kind=WATCH,
    ),
)
STATE_OF_GPUS = frozenset(check.name for check in GPU_CHECKS)
