/* Copyright: Drawbridge contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Device files of instances, which the driver's library makes when root looks at an instance. Numbers are those of the
 * open kernel modules (nv-caps.c): 15 instances of a GPU, each with 8 compute instances. */
#define _GNU_SOURCE
#include "nvml.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { MAJOR = 241, FIRST = 3 }; /* of the H100; the kernel chooses the major number */

static void make(const char *folder, int number) {
    char path[LINE];

    snprintf(path, sizeof(path), "%s/nvidia-cap%d", folder, number);
    if (!mknod(path, S_IFCHR | 0444, makedev(MAJOR, number)))
        chmod(path, 0444);
}

/* For a user who may make none, and in a place where they exist, nothing happens. */
void make_nodes(int minor, int instance, int compute) {
    const char *devices = getenv("EMULATED_NVML_DEV");
    char folder[LINE];
    int number = FIRST + (minor * GPU_INSTANCES + instance) * (1 + COMPUTE_INSTANCES);

    if (geteuid())
        return;
    snprintf(folder, sizeof(folder), "%s/nvidia-caps", devices ? devices : "/dev");
    if (!mkdir(folder, 0755))
        chmod(folder, 0755);
    make(folder, number);
    make(folder, number + 1 + compute);
}
