# Copyright: Drawbridge contributors
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's management library (NVML) without GPUs: slurmd's plugin and nvidia-mig-parted load it as the driver's.

`build` compiles libnvidia-ml.so.1. All its processes share one file of lines, EMULATED_NVML or
/run/emulated-nvml/state. Who reads or changes that file holds flock(2) on it, and writes it in place. Fields are
separated by blanks; only the last field of `gpu` has blanks of its own. The library keeps lines that it does not know.

    driver VERSION
    gpu INDEX MINOR PCI-ADDRESS UUID MODE PENDING CPUS NAME
    gi GPU ID PROFILE START SIZE
    ci GPU GI ID PROFILE UUID
    fault GPU WORD [COUNT]

`gpu` lines are in the order of INDEX, which is 0, 1 and so on. MODE and PENDING are 1 with MIG. CPUS is a list as the
kernel writes it, such as 0-15,32-47. A GPU whose name does not have `H100 80GB` can't be divided. PROFILE of `gi` is
the id that `nvidia-smi mig -lgip` prints, and START and SIZE are slices of memory. PROFILE of `ci` is the id that
`-lcip` prints: 0, 1, 2, 3, 4 for 1, 2, 3, 4, 7 slices of processors.

Faults hold for COUNT changes of the GPU, or until someone removes the line.

Fault `refuse` is another client of the GPU: changes fail with "In use by another client", and a mode stays pending.
Fault `lie` answers that a change succeeded, and does nothing. Fault `die` kills the process, before the first change or
after COUNT changes that succeed. Fault `vanish` removes mode and instances at the next call, as a boot of an H100 does.

As root, the library makes the device files of instances at which a process looks, in EMULATED_NVML_DEV or /dev.

`nvidia-mig-parted` in this folder runs the real program, which is at MIG_PARTED or
/usr/lib/nvidia-mig-parted/nvidia-mig-parted.
"""
