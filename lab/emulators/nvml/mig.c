/* Copyright: Drawbridge contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The mode of GPUs, their profiles, and instances made and destroyed. Errors are the API reference's. That an instance
 * keeps the mode on is [recalled]; nvidia-mig-parted destroys all before it ends the mode. */
#define _GNU_SOURCE
#include "nvml.h"

#include <stdlib.h>
#include <unistd.h>

/* Instances of this process that the fault `lie` promised. */
static struct instance lies[GPUS * SLICES];
static int lied;

static int gpu_of(struct state *s, const void *at, struct gpu **gpu, int *number) {
    struct handle is;
    int result = opened(s);

    if (result)
        return result;
    if (!known(at, DEVICE, &is) || is.gpu >= s->gpus)
        return closed(s, INVALID_ARGUMENT);
    *gpu = &s->gpu[*number = is.gpu];
    return profiles(*gpu) ? SUCCESS : closed(s, NOT_SUPPORTED);
}

/* The same for what only root may do, and only in the mode. */
static int divided(struct state *s, const void *at, struct gpu **gpu, int *number) {
    int result = gpu_of(s, at, gpu, number);

    if (result)
        return result;
    if (geteuid())
        return closed(s, NO_PERMISSION);
    return (*gpu)->mode ? SUCCESS : closed(s, NOT_SUPPORTED);
}

struct instance *find(struct state *s, const struct handle *is) {
    struct instance *found = instance_of(s, is);

    for (int i = 0; i < lied && !found; i++)
        if (lies[i].gpu == is->gpu && lies[i].id == is->instance)
            return &lies[i];
    return found;
}

int instance_at(struct state *s, const void *at, struct handle *is, struct instance **found) {
    int result = opened(s);

    if (result)
        return result;
    if (known(at, INSTANCE, is) && is->gpu < s->gpus && (*found = find(s, is)))
        return SUCCESS;
    return closed(s, INVALID_ARGUMENT);
}

const struct profile *profile_of(struct state *s, const struct instance *instance) {
    return profile_by_id(&s->gpu[instance->gpu], instance->profile);
}

int nvmlDeviceGetMigMode(const void *at, unsigned *current, unsigned *pending) {
    struct state s;
    struct gpu *gpu;
    int number, result = gpu_of(&s, at, &gpu, &number);

    if (result)
        return result;
    *current = gpu->mode;
    *pending = gpu->pending;
    return closed(&s, SUCCESS);
}

/* The mode waits while another client has the GPU: the call succeeds, and `activation` says why. */
int nvmlDeviceSetMigMode(const void *at, unsigned mode, int *activation) {
    struct state s;
    struct gpu *gpu;
    int number, result = gpu_of(&s, at, &gpu, &number);

    if (result)
        return result;
    if (mode > 1)
        return closed(&s, INVALID_ARGUMENT);
    if (geteuid())
        return closed(&s, NO_PERMISSION);
    *activation = SUCCESS;
    switch (change(&s, number)) {
    case LIE:
        break;
    case REFUSE:
        *activation = IN_USE;
        gpu->pending = mode;
        break;
    case GO:
        for (int i = 0; i < s.instances && !mode; i++)
            if (s.instance[i].gpu == number)
                *activation = IN_USE;
        gpu->pending = mode;
        gpu->mode = *activation ? gpu->mode : (int)mode;
        s.changed = 1;
    }
    return closed(&s, SUCCESS);
}

int nvmlDeviceGetGpuInstanceProfileInfo(const void *at, unsigned index, struct profile_info *info) {
    struct state s;
    struct gpu *gpu;
    const struct profile *profile;
    int number, result = gpu_of(&s, at, &gpu, &number);

    if (result)
        return result;
    if (!(profile = profile_by_index(gpu, index)))
        return closed(&s, index < 0x11 ? NOT_SUPPORTED : INVALID_ARGUMENT);
    *info = profile->info;
    return closed(&s, SUCCESS);
}

int nvmlDeviceGetGpuInstancePossiblePlacements_v2(const void *at, unsigned id, struct placement *found, unsigned *count) {
    struct state s;
    struct gpu *gpu;
    const struct profile *profile;
    int number, result = gpu_of(&s, at, &gpu, &number);

    if (result)
        return result;
    if (!(profile = profile_by_id(gpu, id)))
        return closed(&s, NOT_SUPPORTED);
    *count = profile->starts;
    for (unsigned i = 0; found && i < profile->starts; i++)
        found[i] = (struct placement){profile->start[i], profile->size};
    return closed(&s, SUCCESS);
}

/* How many more of the profile have room, one after the other. */
int nvmlDeviceGetGpuInstanceRemainingCapacity(const void *at, unsigned id, unsigned *count) {
    struct state s;
    struct gpu *gpu;
    const struct profile *profile;
    int number, place, result = divided(&s, at, &gpu, &number);

    if (result)
        return result;
    if (!(profile = profile_by_id(gpu, id)))
        return closed(&s, NOT_SUPPORTED);
    for (*count = 0; (place = place_for(&s, number, profile, NULL)) >= 0; ++*count)
        s.instance[s.instances++] = (struct instance){number, 0, id, place, profile->size};
    return closed(&s, SUCCESS);
}

int nvmlDeviceCreateGpuInstanceWithPlacement(const void *at, unsigned id, const struct placement *wanted, void **made) {
    struct state s;
    struct gpu *gpu;
    const struct profile *profile;
    struct instance new;
    enum decision decision;
    int number, place, result = divided(&s, at, &gpu, &number);

    if (result)
        return result;
    if (!(profile = profile_by_id(gpu, id)))
        return closed(&s, INVALID_ARGUMENT);
    if ((decision = change(&s, number)) == REFUSE)
        return closed(&s, IN_USE);
    if ((place = place_for(&s, number, profile, wanted)) < 0 || s.instances == GPUS * SLICES)
        return closed(&s, INSUFFICIENT_RESOURCES);
    new = (struct instance){number, instance_id(place, profile->size), id, place, profile->size};
    *made = handle(INSTANCE, number, new.id, 0);
    if (decision == LIE)
        lies[lied < GPUS * SLICES ? lied++ : 0] = new;
    else
        s.instance[s.instances++] = new;
    s.changed = 1;
    return closed(&s, SUCCESS);
}

int nvmlDeviceCreateGpuInstance(const void *at, unsigned id, void **made) {
    return nvmlDeviceCreateGpuInstanceWithPlacement(at, id, NULL, made);
}

int nvmlDeviceGetGpuInstances(const void *at, unsigned id, void **found, unsigned *count) {
    struct state s;
    struct gpu *gpu;
    int number, result = divided(&s, at, &gpu, &number);

    if (result)
        return result;
    if (!profile_by_id(gpu, id))
        return closed(&s, NOT_SUPPORTED);
    *count = 0;
    for (int i = 0; i < s.instances; i++)
        if (s.instance[i].gpu == number && s.instance[i].profile == (int)id)
            found[(*count)++] = handle(INSTANCE, number, s.instance[i].id, 0);
    return closed(&s, SUCCESS);
}

int nvmlDeviceGetGpuInstanceById(const void *at, unsigned id, void **found) {
    struct state s;
    struct gpu *gpu;
    int number, result = divided(&s, at, &gpu, &number);
    struct handle is = {.instance = id};

    if (result)
        return result;
    is.gpu = number;
    *found = handle(INSTANCE, number, id % 16, 0);
    return closed(&s, instance_of(&s, &is) ? SUCCESS : NOT_FOUND);
}

int nvmlGpuInstanceGetInfo(const void *at, struct instance_info *info) {
    struct state s;
    struct handle is;
    struct instance *it;
    int result = instance_at(&s, at, &is, &it);

    if (result)
        return result;
    *info = (struct instance_info){handle(DEVICE, is.gpu, 0, 0), it->id, it->profile, {it->start, it->size}};
    return closed(&s, SUCCESS);
}

int nvmlGpuInstanceDestroy(const void *at) {
    struct state s;
    struct handle is;
    struct instance *it;
    enum decision decision;
    int result = instance_at(&s, at, &is, &it);

    if (result)
        return result;
    if (geteuid())
        return closed(&s, NO_PERMISSION);
    decision = change(&s, is.gpu);
    for (int i = 0; i < s.computes && decision == GO; i++)
        if (s.compute[i].gpu == is.gpu && s.compute[i].instance == is.instance)
            decision = REFUSE;
    if (decision == GO && it >= s.instance && it < s.instance + s.instances) {
        *it = s.instance[--s.instances];
        s.changed = 1;
    }
    return closed(&s, decision == REFUSE ? IN_USE : SUCCESS);
}
