/* Copyright: Drawbridge contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * The state's file: read and written as a whole under flock(2), in place, so that a lock holds for all who use it. */
#define _GNU_SOURCE
#include "nvml.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static char places[1 << 16];

void *handle(enum kind kind, int gpu, int instance, int compute) {
    return places + (kind << 13) + (gpu * 16 + instance) * COMPUTE_INSTANCES + compute;
}

int known(const void *place, enum kind kind, struct handle *found) {
    long at = (const char *)place - places;

    if (!place || at < 0 || at >= (long)sizeof(places) || at >> 13 != (long)kind)
        return 0;
    at &= (1 << 13) - 1;
    *found = (struct handle){kind, at / 16 / COMPUTE_INSTANCES, at / COMPUTE_INSTANCES % 16, at % COMPUTE_INSTANCES};
    return 1;
}

static void keep(struct state *s, const char *line) {
    size_t length = strlen(s->kept);

    if (length + strlen(line) + 2 < KEPT)
        sprintf(s->kept + length, "%s\n", line);
}

static void read_line(struct state *s, const char *line) {
    struct gpu gpu = {0};
    struct instance instance;
    struct compute compute;
    struct fault fault = {.count = -1};
    int index;

    if (sscanf(line, "driver %95s", s->driver) == 1)
        return;
    if (sscanf(line, "gpu %d %d %95s %95s %d %d %95s %95[^\n]", &index, &gpu.minor, gpu.pci, gpu.uuid, &gpu.mode,
               &gpu.pending, gpu.cpus, gpu.name) == 8 && s->gpus < GPUS && index == s->gpus)
        s->gpu[s->gpus++] = gpu;
    else if (sscanf(line, "gi %d %d %d %d %d", &instance.gpu, &instance.id, &instance.profile, &instance.start,
                    &instance.size) == 5 && s->instances < GPUS * SLICES)
        s->instance[s->instances++] = instance;
    else if (sscanf(line, "ci %d %d %d %d %95s", &compute.gpu, &compute.instance, &compute.id, &compute.profile,
                    compute.uuid) == 5 && s->computes < GPUS * SLICES)
        s->compute[s->computes++] = compute;
    else if (sscanf(line, "fault %d %95s %d", &fault.gpu, fault.word, &fault.count) >= 2 && s->faults < GPUS)
        s->fault[s->faults++] = fault;
    else
        keep(s, line);
}

static void write_all(struct state *s) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);

    fprintf(out, "driver %s\n", s->driver);
    for (int i = 0; i < s->gpus; i++)
        fprintf(out, "gpu %d %d %s %s %d %d %s %s\n", i, s->gpu[i].minor, s->gpu[i].pci, s->gpu[i].uuid,
                s->gpu[i].mode, s->gpu[i].pending, s->gpu[i].cpus, s->gpu[i].name);
    for (int i = 0; i < s->instances; i++)
        fprintf(out, "gi %d %d %d %d %d\n", s->instance[i].gpu, s->instance[i].id, s->instance[i].profile,
                s->instance[i].start, s->instance[i].size);
    for (int i = 0; i < s->computes; i++)
        fprintf(out, "ci %d %d %d %d %s\n", s->compute[i].gpu, s->compute[i].instance, s->compute[i].id,
                s->compute[i].profile, s->compute[i].uuid);
    for (int i = 0; i < s->faults; i++)
        if (s->fault[i].count < 0)
            fprintf(out, "fault %d %s\n", s->fault[i].gpu, s->fault[i].word);
        else
            fprintf(out, "fault %d %s %d\n", s->fault[i].gpu, s->fault[i].word, s->fault[i].count);
    fprintf(out, "%s", s->kept);
    fclose(out);
    if (pwrite(s->file, text, length, 0) != (ssize_t)length || ftruncate(s->file, length))
        fprintf(stderr, "emulated NVML: the state can't be written\n");
    free(text);
    s->changed = 0;
}

void drop(struct state *s, int gpu) {
    int kept = 0;

    for (int i = 0; i < s->instances; i++)
        if (s->instance[i].gpu != gpu)
            s->instance[kept++] = s->instance[i];
    s->instances = kept;
    kept = 0;
    for (int i = 0; i < s->computes; i++)
        if (s->compute[i].gpu != gpu)
            s->compute[kept++] = s->compute[i];
    s->computes = kept;
    s->changed = 1;
}

static struct fault *fault_of(struct state *s, int gpu, const char *word) {
    for (int i = 0; i < s->faults; i++)
        if (s->fault[i].gpu == gpu && !strcmp(s->fault[i].word, word))
            return &s->fault[i];
    return NULL;
}

static void forget(struct state *s, struct fault *fault) {
    *fault = s->fault[--s->faults];
    s->changed = 1;
}

/* A boot of a Hopper: mode and instances are gone. */
static void vanish(struct state *s) {
    for (int gpu = 0; gpu < s->gpus; gpu++) {
        struct fault *fault = fault_of(s, gpu, "vanish");

        if (!fault)
            continue;
        drop(s, gpu);
        s->gpu[gpu].mode = s->gpu[gpu].pending = 0;
        forget(s, fault);
    }
}

int opened(struct state *s) {
    const char *path = getenv("EMULATED_NVML");
    char line[LINE];
    int file = open(path ? path : "/run/emulated-nvml/state", O_RDWR | O_CLOEXEC);
    FILE *in;

    memset(s, 0, sizeof(*s));
    if (file < 0) /* any user may read */
        file = open(path ? path : "/run/emulated-nvml/state", O_RDONLY | O_CLOEXEC);
    if (file < 0 || flock(file, LOCK_EX))
        return DRIVER_NOT_LOADED;
    s->file = file;
    in = fdopen(dup(file), "r");
    while (in && fgets(line, sizeof(line), in)) {
        line[strcspn(line, "\n")] = 0;
        if (*line)
            read_line(s, line);
    }
    if (in)
        fclose(in);
    vanish(s);
    return SUCCESS;
}

int closed(struct state *s, int result) {
    if (s->changed)
        write_all(s);
    close(s->file);
    return result;
}

static int due(struct state *s, int gpu, const char *word) {
    struct fault *fault = fault_of(s, gpu, word);

    if (!fault)
        return 0;
    if (fault->count > 0 && --fault->count == 0)
        forget(s, fault);
    s->changed = 1;
    return 1;
}

/* What a change of the GPU comes to. With `die N`, N changes succeed, and the next one ends the process. */
enum decision change(struct state *s, int gpu) {
    struct fault *fault = fault_of(s, gpu, "die");

    if (fault && fault->count <= 0) {
        forget(s, fault);
        write_all(s);
        raise(SIGKILL);
    }
    if (fault) {
        fault->count--;
        s->changed = 1;
    }
    return due(s, gpu, "refuse") ? REFUSE : due(s, gpu, "lie") ? LIE : GO;
}

struct instance *instance_of(struct state *s, const struct handle *at) {
    for (int i = 0; i < s->instances; i++)
        if (s->instance[i].gpu == at->gpu && s->instance[i].id == at->instance)
            return &s->instance[i];
    return NULL;
}

struct compute *compute_of(struct state *s, const struct handle *at) {
    for (int i = 0; i < s->computes; i++)
        if (s->compute[i].gpu == at->gpu && s->compute[i].instance == at->instance && s->compute[i].id == at->compute)
            return &s->compute[i];
    return NULL;
}
