/* Copyright: Drawbridge contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The part of NVIDIA's interface (NVML) that the emulated library has, and the state behind it. Numbers and structures
 * are those of the NVML API reference, 580. The file's format is in __init__.py. */
#ifndef EMULATED_NVML_H
#define EMULATED_NVML_H

enum {
    SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NO_PERMISSION = 4, NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7, DRIVER_NOT_LOADED = 9, IN_USE = 19, INSUFFICIENT_RESOURCES = 23, UNKNOWN = 999
};

enum { GPUS = 64, SLICES = 7, GPU_INSTANCES = 15, COMPUTE_INSTANCES = 8, WORD = 96, LINE = 512, KEPT = 8192 };

struct placement { unsigned start, size; };
struct pci { char legacy[16]; unsigned domain, bus, device, id, subsystem; char bus_id[32]; };
struct memory { unsigned long long total, free, used; };
struct attributes {
    unsigned multiprocessors, copy_engines, decoders, encoders, jpegs, ofas, slices, compute_slices;
    unsigned long long memory_mib;
};
struct profile_info {
    unsigned id, p2p, slices, instances, multiprocessors, copy_engines, decoders, encoders, jpegs, ofas;
    unsigned long long memory_mib;
};
struct instance_info { void *device; unsigned id, profile; struct placement placement; };
struct compute_profile_info {
    unsigned id, slices, instances, multiprocessors, copy_engines, decoders, encoders, jpegs, ofas;
};
struct compute_info { void *device, *instance; unsigned id, profile; struct placement placement; };

/* What the file has. */
struct gpu { int minor, mode, pending; char pci[WORD], uuid[WORD], cpus[WORD], name[WORD]; };
struct instance { int gpu, id, profile, start, size; };
struct compute { int gpu, instance, id, profile; char uuid[WORD]; };
struct fault { int gpu, count; char word[WORD]; };
struct state {
    int file, changed;
    char driver[WORD], kept[KEPT];
    int gpus, instances, computes, faults;
    struct gpu gpu[GPUS];
    struct instance instance[GPUS * SLICES];
    struct compute compute[GPUS * SLICES];
    struct fault fault[GPUS];
};

/* A handle is a place in this array: the kind of the thing, its GPU, and its own numbers. */
enum kind { DEVICE = 1, INSTANCE = 2, COMPUTE = 3, MIG_DEVICE = 4 };
struct handle { enum kind kind; int gpu, instance, compute; };
void *handle(enum kind kind, int gpu, int instance, int compute);
int known(const void *place, enum kind kind, struct handle *found);

/* state.c: every call of the library reads the file under its lock, and writes it if it changed something. */
int opened(struct state *state);
int closed(struct state *state, int result);
enum decision { GO, LIE, REFUSE };
enum decision change(struct state *state, int gpu);
void drop(struct state *state, int gpu);
struct instance *instance_of(struct state *state, const struct handle *at);
struct compute *compute_of(struct state *state, const struct handle *at);

/* profiles.c */
struct profile { unsigned index; struct profile_info info; unsigned size, starts, start[SLICES]; };
const struct profile *profiles(const struct gpu *gpu);
const struct profile *profile_by_id(const struct gpu *gpu, unsigned id);
const struct profile *profile_by_index(const struct gpu *gpu, unsigned index);
int place_for(const struct state *state, int gpu, const struct profile *profile, const struct placement *wanted);
int instance_id(unsigned start, unsigned size);
const char *profile_name(const struct profile *profile);
int compute_slices(unsigned index, unsigned slices);

/* mig.c */
struct instance *find(struct state *state, const struct handle *at);
int instance_at(struct state *state, const void *at, struct handle *is, struct instance **found);
const struct profile *profile_of(struct state *state, const struct instance *instance);

/* nodes.c */
void make_nodes(int minor, int instance, int compute);

#endif
