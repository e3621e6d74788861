/* Copyright: Drawbridge contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Calls about the system, whole GPUs and their instances as devices, with the names and errors of the API reference.
 * slurmd's plugin (gpu_nvml.so 24.11.5) and nvidia-mig-parted 0.13.1 were seen to make them. */
#define _GNU_SOURCE
#include "nvml.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { H100 = 0x233010de, LINKS = 18, BITS = 8 * sizeof(unsigned long) };
enum { MEMORY_MIB = 81559, MEMORY_MHZ = 2619, GRAPHICS_MHZ = 1980 }; /* an H100 80GB: nvidia-smi -q */

static int users;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

int nvmlInitWithFlags(unsigned flags) {
    struct state s;
    int result = opened(&s);

    (void)flags;
    if (result)
        return result;
    pthread_mutex_lock(&lock);
    users++;
    pthread_mutex_unlock(&lock);
    return closed(&s, SUCCESS);
}

int nvmlInit_v2(void) {
    return nvmlInitWithFlags(0);
}

int nvmlInit(void) {
    return nvmlInitWithFlags(0);
}

int nvmlShutdown(void) {
    int result = SUCCESS;

    pthread_mutex_lock(&lock);
    if (users > 0)
        users--;
    else
        result = UNINITIALIZED;
    pthread_mutex_unlock(&lock);
    return result;
}

const char *nvmlErrorString(int result) {
    switch (result) {
    case SUCCESS: return "Success";
    case UNINITIALIZED: return "Uninitialized";
    case INVALID_ARGUMENT: return "Invalid Argument";
    case NOT_SUPPORTED: return "Not Supported";
    case NO_PERMISSION: return "Insufficient Permissions";
    case NOT_FOUND: return "Not Found";
    case INSUFFICIENT_SIZE: return "Insufficient Size";
    case DRIVER_NOT_LOADED: return "Driver Not Loaded";
    case IN_USE: return "In use by another client";
    case INSUFFICIENT_RESOURCES: return "Insufficient Resources";
    default: return "Unknown Error";
    }
}

static int copied(char *to, unsigned length, const char *text) {
    if (!to)
        return INVALID_ARGUMENT;
    if (strlen(text) + 1 > length)
        return INSUFFICIENT_SIZE;
    strcpy(to, text);
    return SUCCESS;
}

/* Reads the state; the GPU and, for an instance, its handle. */
static int device(struct state *s, const void *at, struct handle *found) {
    int result = users ? opened(s) : UNINITIALIZED;

    if (result)
        return result;
    if ((known(at, DEVICE, found) || (known(at, MIG_DEVICE, found) && compute_of(s, found))) && found->gpu < s->gpus)
        return SUCCESS;
    return closed(s, INVALID_ARGUMENT);
}

int nvmlSystemGetDriverVersion(char *version, unsigned length) {
    struct state s;
    int result = users ? opened(&s) : UNINITIALIZED;

    return result ? result : closed(&s, copied(version, length, s.driver));
}

int nvmlSystemGetNVMLVersion(char *version, unsigned length) {
    struct state s;
    char text[WORD + 4] = "13.";
    int result = opened(&s);

    if (result)
        return result;
    strcat(text, s.driver);
    return closed(&s, copied(version, length, text));
}

int nvmlDeviceGetCount_v2(unsigned *count) {
    struct state s;
    int result = users ? opened(&s) : UNINITIALIZED;

    if (result)
        return result;
    *count = s.gpus;
    return closed(&s, SUCCESS);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **found) {
    struct state s;
    int result = users ? opened(&s) : UNINITIALIZED;

    if (result)
        return result;
    if (index >= (unsigned)s.gpus)
        return closed(&s, INVALID_ARGUMENT);
    *found = handle(DEVICE, index, 0, 0);
    return closed(&s, SUCCESS);
}

/* People write four digits of the domain, NVML eight. */
static int alike(const char *one, const char *other) {
    size_t a = strlen(one), b = strlen(other);

    return a >= 12 && b >= 12 && !strcasecmp(one + a - 12, other + b - 12);
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, void **found) {
    struct state s;
    int result = users ? opened(&s) : UNINITIALIZED;

    if (result)
        return result;
    for (int i = 0; i < s.gpus; i++)
        if (alike(s.gpu[i].pci, bus_id)) {
            *found = handle(DEVICE, i, 0, 0);
            return closed(&s, SUCCESS);
        }
    return closed(&s, NOT_FOUND);
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **found) {
    struct state s;
    int result = users ? opened(&s) : UNINITIALIZED;

    if (result)
        return result;
    *found = NULL;
    for (int i = 0; i < s.gpus; i++)
        if (!strcmp(s.gpu[i].uuid, uuid))
            *found = handle(DEVICE, i, 0, 0);
    for (int i = 0; i < s.computes; i++)
        if (!strcmp(s.compute[i].uuid, uuid))
            *found = handle(MIG_DEVICE, s.compute[i].gpu, s.compute[i].instance, s.compute[i].id);
    return closed(&s, *found ? SUCCESS : NOT_FOUND);
}

int nvmlDeviceGetName(const void *at, char *name, unsigned length) {
    struct state s;
    struct handle is;
    struct instance *instance;
    char text[3 * WORD];
    int result = device(&s, at, &is);

    if (result)
        return result;
    snprintf(text, sizeof(text), "%s", s.gpu[is.gpu].name);
    if (is.kind == MIG_DEVICE && (instance = instance_of(&s, &is)))
        snprintf(text, sizeof(text), "%s MIG %s", s.gpu[is.gpu].name,
                 profile_name(profile_by_id(&s.gpu[is.gpu], instance->profile)));
    return closed(&s, copied(name, length, text));
}

int nvmlDeviceGetUUID(const void *at, char *uuid, unsigned length) {
    struct state s;
    struct handle is;
    int result = device(&s, at, &is);

    if (result)
        return result;
    return closed(&s, copied(uuid, length, is.kind == DEVICE ? s.gpu[is.gpu].uuid : compute_of(&s, &is)->uuid));
}

int nvmlDeviceGetPciInfo_v3(const void *at, struct pci *pci) {
    struct state s;
    struct handle is;
    int result = device(&s, at, &is);

    if (result)
        return result;
    memset(pci, 0, sizeof(*pci));
    snprintf(pci->bus_id, sizeof(pci->bus_id), "%.31s", s.gpu[is.gpu].pci);
    snprintf(pci->legacy, sizeof(pci->legacy), "%.15s", s.gpu[is.gpu].pci + 4);
    sscanf(pci->bus_id, "%x:%x:%x", &pci->domain, &pci->bus, &pci->device);
    pci->id = H100;
    return closed(&s, SUCCESS);
}

int nvmlDeviceGetMinorNumber(const void *at, unsigned *minor) {
    struct state s;
    struct handle is;
    int result = device(&s, at, &is);

    if (result)
        return result;
    *minor = s.gpu[is.gpu].minor;
    return closed(&s, is.kind == DEVICE ? SUCCESS : INVALID_ARGUMENT);
}

int nvmlDeviceGetIndex(const void *at, unsigned *index) {
    struct state s;
    struct handle is;
    int result = device(&s, at, &is);

    if (result)
        return result;
    *index = is.gpu;
    return closed(&s, is.kind == DEVICE ? SUCCESS : INVALID_ARGUMENT);
}

int nvmlDeviceGetMemoryInfo(const void *at, struct memory *memory) {
    struct state s;
    struct handle is;
    struct instance *instance;
    unsigned long long mib = MEMORY_MIB;
    int result = device(&s, at, &is);

    if (result)
        return result;
    if (is.kind == MIG_DEVICE && (instance = instance_of(&s, &is)))
        mib = profile_by_id(&s.gpu[is.gpu], instance->profile)->info.memory_mib;
    *memory = (struct memory){mib << 20, mib << 20, 0};
    return closed(&s, SUCCESS);
}

/* A list of CPUs as the kernel writes it, as bits. */
int nvmlDeviceGetCpuAffinity(const void *at, unsigned words, unsigned long *bits) {
    struct state s;
    struct handle is;
    int result = device(&s, at, &is);

    if (result)
        return result;
    memset(bits, 0, words * sizeof(*bits));
    for (char *part = strtok(s.gpu[is.gpu].cpus, ","); part; part = strtok(NULL, ",")) {
        unsigned first = strtoul(part, &part, 10), last = *part == '-' ? strtoul(part + 1, NULL, 10) : first;

        for (unsigned cpu = first; cpu <= last && cpu < words * BITS; cpu++)
            bits[cpu / BITS] |= 1UL << cpu % BITS;
    }
    return closed(&s, SUCCESS);
}

int nvmlDeviceGetNvLinkState(const void *at, unsigned link, unsigned *active) {
    (void)at;
    *active = 0;
    return link < LINKS ? SUCCESS : INVALID_ARGUMENT;
}

int nvmlDeviceGetNvLinkRemotePciInfo_v2(const void *at, unsigned link, struct pci *pci) {
    (void)at, (void)link, (void)pci;
    return NOT_SUPPORTED;
}

static int offered(unsigned clock, unsigned *count, unsigned *clocks) {
    if (clocks && *count < 1)
        return INSUFFICIENT_SIZE;
    *count = 1;
    if (clocks)
        *clocks = clock;
    return SUCCESS;
}

/* slurmd reads clocks for --gpu-freq: the largest ones of the H100. */
int nvmlDeviceGetSupportedMemoryClocks(const void *at, unsigned *count, unsigned *clocks) {
    (void)at;
    return offered(MEMORY_MHZ, count, clocks);
}

int nvmlDeviceGetSupportedGraphicsClocks(const void *at, unsigned memory, unsigned *count, unsigned *clocks) {
    (void)at;
    return memory == MEMORY_MHZ ? offered(GRAPHICS_MHZ, count, clocks) : NOT_FOUND;
}

/* Slurm's accounting asks for processes: no program computes. A failure would be a line in the output of each job. */
static int no_processes(unsigned *count) {
    *count = 0;
    return SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses_v3(const void *at, unsigned *count, void *processes) {
    (void)at, (void)processes;
    return no_processes(count);
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(const void *at, unsigned *count, void *processes) {
    (void)at, (void)processes;
    return no_processes(count);
}

/* Jobs set no clocks. */
#define WITHOUT(name) int name(void) { return NOT_SUPPORTED; }
WITHOUT(nvmlDeviceGetApplicationsClock)
WITHOUT(nvmlDeviceSetApplicationsClocks)
WITHOUT(nvmlDeviceResetApplicationsClocks)
WITHOUT(nvmlDeviceGetProcessUtilization)
