/* Copyright: Drawbridge contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Profiles of instances, and where they have room. Names, ids, counts, processors, engines and memory are what an H100
 * 80GB printed (nvidia-smi mig -lgip, driver 580.159.04). Possible places are NVIDIA's MIG guide's: -lgipp of an A100,
 * which has the same slices. The numbers of NVML's profiles (`index`) are the API reference's. The guide's examples have
 * the ids of instances, and show that the last free place is taken first. */
#include "nvml.h"

#include <stdio.h>
#include <string.h>

static const struct profile H100_80GB[] = {
    {0, {19, 0, 1, 7, 16, 1, 1, 0, 1, 0, 9984}, 1, 7, {0, 1, 2, 3, 4, 5, 6}},
    {1, {14, 0, 2, 3, 32, 2, 2, 0, 2, 0, 20096}, 2, 3, {0, 2, 4}},
    {2, {9, 0, 3, 2, 60, 3, 3, 0, 3, 0, 40448}, 4, 2, {0, 4}},
    {3, {5, 0, 4, 1, 64, 4, 4, 0, 4, 0, 40448}, 4, 1, {0}},
    {4, {0, 0, 7, 1, 132, 8, 7, 0, 7, 1, 81152}, 8, 1, {0}},
    {7, {20, 0, 1, 1, 16, 1, 1, 0, 1, 1, 9984}, 1, 7, {0, 1, 2, 3, 4, 5, 6}},
    {9, {15, 0, 1, 4, 26, 1, 1, 0, 1, 0, 20096}, 2, 4, {0, 2, 4, 6}},
    {.size = 0},
};
static const char *const NAMES[] = {"1g.10gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb", "1g.10gb+me", "1g.20gb"};

/* NULL for a GPU that has no instances. */
const struct profile *profiles(const struct gpu *gpu) {
    return strstr(gpu->name, "H100 80GB") ? H100_80GB : NULL;
}

const struct profile *profile_by_id(const struct gpu *gpu, unsigned id) {
    for (const struct profile *it = profiles(gpu); it && it->size; it++)
        if (it->info.id == id)
            return it;
    return NULL;
}

const struct profile *profile_by_index(const struct gpu *gpu, unsigned index) {
    for (const struct profile *it = profiles(gpu); it && it->size; it++)
        if (it->index == index)
            return it;
    return NULL;
}

const char *profile_name(const struct profile *profile) {
    return NAMES[profile - H100_80GB];
}

static int overlaps(unsigned start, unsigned size, const struct instance *other) {
    return start < (unsigned)(other->start + other->size) && (unsigned)other->start < start + size;
}

static int is_free(const struct state *s, int gpu, unsigned start, unsigned size) {
    for (int i = 0; i < s->instances; i++)
        if (s->instance[i].gpu == gpu && overlaps(start, size, &s->instance[i]))
            return 0;
    return 1;
}

/* Seven slices of processors, one engine of each rare kind, and a number of each profile. */
static int has_room(const struct state *s, int gpu, const struct profile *profile) {
    unsigned slices = profile->info.slices, ofas = profile->info.ofas, alike = 1;

    for (int i = 0; i < s->instances; i++) {
        const struct profile *other = profile_by_id(&s->gpu[gpu], s->instance[i].profile);

        if (s->instance[i].gpu != gpu || !other)
            continue;
        slices += other->info.slices;
        ofas += other->info.ofas;
        alike += other == profile;
    }
    return slices <= SLICES && ofas <= 1 && alike <= profile->info.instances;
}

/* The slice of memory where an instance begins; -1 if there is no room. */
int place_for(const struct state *s, int gpu, const struct profile *profile, const struct placement *wanted) {
    if (!has_room(s, gpu, profile))
        return -1;
    for (int at = profile->starts - 1; at >= 0; at--)
        if ((!wanted || wanted->start == profile->start[at]) && is_free(s, gpu, profile->start[at], profile->size))
            return profile->start[at];
    return -1;
}

/* A GPU's instances are numbered like a tree: the whole one, halves, quarters, eighths. */
int instance_id(unsigned start, unsigned size) {
    unsigned of_this_size = 8 / size;

    return of_this_size - 1 + start / size;
}

/* Slices of NVML's compute profile in an instance with so many; 0 if it has none such. */
int compute_slices(unsigned index, unsigned slices) {
    static const unsigned SIZES[] = {1, 2, 3, 4, 7};

    if (index >= sizeof(SIZES) / sizeof(*SIZES) || SIZES[index] > slices)
        return 0;
    return SIZES[index] == 3 && slices == 4 ? 0 : SIZES[index];
}
