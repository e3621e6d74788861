/* Copyright: Drawbridge contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Compute instances. */
#define _GNU_SOURCE
#include "nvml.h"

#include <stdio.h>
#include <unistd.h>

int nvmlGpuInstanceGetComputeInstanceProfileInfo(const void *at, unsigned index, unsigned engines,
                                                 struct compute_profile_info *info) {
    struct state s;
    struct handle is;
    struct instance *it;
    const struct profile_info *of;
    int slices, result = instance_at(&s, at, &is, &it);

    if (result)
        return result;
    of = &profile_of(&s, it)->info;
    if (index >= 8 || engines)
        return closed(&s, INVALID_ARGUMENT);
    if (!(slices = compute_slices(index, of->slices)))
        return closed(&s, NOT_SUPPORTED);
    *info = (struct compute_profile_info){index, slices, of->slices / slices, of->multiprocessors * slices / of->slices,
                                          of->copy_engines, of->decoders, of->encoders, of->jpegs, of->ofas};
    return closed(&s, SUCCESS);
}

static int compute_used(const struct state *s, const struct handle *is, unsigned *ids) {
    int used = 0;

    *ids = 0;
    for (int i = 0; i < s->computes; i++)
        if (s->compute[i].gpu == is->gpu && s->compute[i].instance == is->instance) {
            used += compute_slices(s->compute[i].profile, SLICES);
            *ids |= 1U << s->compute[i].id;
        }
    return used;
}

/* As the driver's: by version 5 of RFC 9562, other ones with each instance. */
static void new_uuid(char *uuid) {
    unsigned char b[16] = {0};
    FILE *random = fopen("/dev/urandom", "r");

    if (random) {
        if (fread(b, sizeof(b), 1, random) != 1)
            b[0] = getpid();
        fclose(random);
    }
    sprintf(uuid, "MIG-%02x%02x%02x%02x-%02x%02x-5%x%02x-8%x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3],
            b[4], b[5], b[6] & 15, b[7], b[8] & 15, b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

int nvmlGpuInstanceCreateComputeInstance(const void *at, unsigned id, void **made) {
    struct state s;
    struct handle is;
    struct instance *it;
    struct compute new = {0};
    enum decision decision;
    unsigned ids, slices, result = instance_at(&s, at, &is, &it);

    if (result)
        return result;
    if (geteuid())
        return closed(&s, NO_PERMISSION);
    slices = profile_of(&s, it)->info.slices;
    if (!compute_slices(id, slices))
        return closed(&s, NOT_SUPPORTED);
    if ((decision = change(&s, is.gpu)) == REFUSE)
        return closed(&s, IN_USE);
    if (compute_used(&s, &is, &ids) + compute_slices(id, slices) > (int)slices || s.computes == GPUS * SLICES)
        return closed(&s, INSUFFICIENT_RESOURCES);
    new = (struct compute){is.gpu, is.instance, __builtin_ctz(~ids), id, ""};
    new_uuid(new.uuid);
    *made = handle(COMPUTE, is.gpu, is.instance, new.id);
    if (decision == GO && instance_of(&s, &is)) {
        s.compute[s.computes++] = new;
        s.changed = 1;
    }
    return closed(&s, SUCCESS);
}

int nvmlGpuInstanceGetComputeInstances(const void *at, unsigned id, void **found, unsigned *count) {
    struct state s;
    struct handle is;
    struct instance *it;
    int result = instance_at(&s, at, &is, &it);

    if (result)
        return result;
    *count = 0;
    for (int i = 0; i < s.computes; i++)
        if (s.compute[i].gpu == is.gpu && s.compute[i].instance == is.instance && s.compute[i].profile == (int)id)
            found[(*count)++] = handle(COMPUTE, is.gpu, is.instance, s.compute[i].id);
    return closed(&s, SUCCESS);
}

static int compute_at(struct state *s, const void *at, struct handle *is, struct compute **found) {
    int result = opened(s);

    if (result)
        return result;
    if (known(at, COMPUTE, is) && (*found = compute_of(s, is)))
        return SUCCESS;
    return closed(s, INVALID_ARGUMENT);
}

/* The first slice is not kept: compute instances follow one another. */
int nvmlComputeInstanceGetInfo_v2(const void *at, struct compute_info *info) {
    struct state s;
    struct handle is;
    struct compute *it;
    unsigned start = 0;
    int result = compute_at(&s, at, &is, &it);

    if (result)
        return result;
    for (struct compute *other = s.compute; other < it; other++)
        if (other->gpu == is.gpu && other->instance == is.instance)
            start += compute_slices(other->profile, SLICES);
    *info = (struct compute_info){handle(DEVICE, is.gpu, 0, 0), handle(INSTANCE, is.gpu, is.instance, 0), it->id,
                                  it->profile, {start, compute_slices(it->profile, SLICES)}};
    return closed(&s, SUCCESS);
}

int nvmlComputeInstanceDestroy(const void *at) {
    struct state s;
    struct handle is;
    struct compute *it;
    enum decision decision;
    int result = compute_at(&s, at, &is, &it);

    if (result)
        return result;
    if (geteuid())
        return closed(&s, NO_PERMISSION);
    if ((decision = change(&s, is.gpu)) == GO) {
        *it = s.compute[--s.computes];
        s.changed = 1;
    }
    return closed(&s, decision == REFUSE ? IN_USE : SUCCESS);
}
