/* Copyright: Drawbridge contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The device that each compute instance is to programs. */
#include "nvml.h"

/* Without the mode there can be none. */
int nvmlDeviceGetMaxMigDeviceCount(const void *at, unsigned *count) {
    struct state s;
    struct handle is;
    int result = opened(&s);

    if (result)
        return result;
    if (!known(at, DEVICE, &is) || is.gpu >= s.gpus)
        return closed(&s, INVALID_ARGUMENT);
    *count = profiles(&s.gpu[is.gpu]) && s.gpu[is.gpu].mode ? SLICES : 0;
    return closed(&s, SUCCESS);
}

static int before(const struct compute *one, const struct compute *other) {
    return one->instance != other->instance ? one->instance < other->instance : one->id < other->id;
}

int nvmlDeviceGetMigDeviceHandleByIndex(const void *at, unsigned index, void **found) {
    struct state s;
    struct handle is;
    int result = opened(&s);

    if (result)
        return result;
    if (!known(at, DEVICE, &is) || is.gpu >= s.gpus || index >= SLICES)
        return closed(&s, INVALID_ARGUMENT);
    for (int i = 0; i < s.computes; i++) {
        unsigned place = 0;

        for (int j = 0; j < s.computes; j++)
            place += s.compute[j].gpu == is.gpu && before(&s.compute[j], &s.compute[i]);
        if (s.compute[i].gpu != is.gpu || place != index)
            continue;
        *found = handle(MIG_DEVICE, is.gpu, s.compute[i].instance, s.compute[i].id);
        make_nodes(s.gpu[is.gpu].minor, s.compute[i].instance, s.compute[i].id);
        return closed(&s, SUCCESS);
    }
    return closed(&s, NOT_FOUND);
}

static int mig_device(struct state *s, const void *at, struct handle *is) {
    int result = opened(s);

    if (result)
        return result;
    return known(at, MIG_DEVICE, is) && compute_of(s, is) ? SUCCESS : closed(s, INVALID_ARGUMENT);
}

int nvmlDeviceIsMigDeviceHandle(const void *at, unsigned *answer) {
    struct handle is;

    *answer = known(at, MIG_DEVICE, &is);
    return SUCCESS;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(const void *at, void **found) {
    struct state s;
    struct handle is;
    int result = mig_device(&s, at, &is);

    if (result)
        return result;
    *found = handle(DEVICE, is.gpu, 0, 0);
    return closed(&s, SUCCESS);
}

int nvmlDeviceGetGpuInstanceId(const void *at, unsigned *id) {
    struct state s;
    struct handle is;
    int result = mig_device(&s, at, &is);

    if (result)
        return result;
    *id = is.instance;
    return closed(&s, SUCCESS);
}

int nvmlDeviceGetComputeInstanceId(const void *at, unsigned *id) {
    struct state s;
    struct handle is;
    int result = mig_device(&s, at, &is);

    if (result)
        return result;
    *id = is.compute;
    return closed(&s, SUCCESS);
}

int nvmlDeviceGetAttributes_v2(const void *at, struct attributes *found) {
    struct state s;
    struct handle is;
    int slices, result = mig_device(&s, at, &is);
    const struct profile_info *of;

    if (result)
        return result;
    of = &profile_by_id(&s.gpu[is.gpu], instance_of(&s, &is)->profile)->info;
    slices = compute_slices(compute_of(&s, &is)->profile, SLICES);
    *found = (struct attributes){of->multiprocessors * slices / of->slices, of->copy_engines, of->decoders,
                                 of->encoders, of->jpegs, of->ofas, of->slices, slices, of->memory_mib};
    return closed(&s, SUCCESS);
}
