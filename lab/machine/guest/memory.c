/* Copyright: Drawbridge contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * slurmd asks libc, not /proc/meminfo, how much memory there is, and libc asks the kernel. Preloaded, this answers for
 * the pretended machine: LAB_MEMORY_KB and LAB_CPUS come from slurmd's drop-in. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static long pretended(const char *variable) {
    const char *value = getenv(variable);
    return value ? atol(value) : 0;
}

long sysconf(int name) {
    static long (*real)(int);
    long kb = pretended("LAB_MEMORY_KB"), cpus = pretended("LAB_CPUS");

    if (!real)
        real = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    if (name == _SC_PHYS_PAGES && kb > 0)
        return kb / (real(_SC_PAGESIZE) / 1024);
    if ((name == _SC_NPROCESSORS_ONLN || name == _SC_NPROCESSORS_CONF) && cpus > 0)
        return cpus;
    return real(name);
}
