/* Runs several calls of the kernel in one: between two calls from Python a thread would wait for the
 * interpreter's lock. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

static int64_t now(void)
{
    struct timespec at;
    timespec_get(&at, TIME_UTC);
    return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

API int64_t kernel_run(Job *jobs, int64_t count)
{
    for (int64_t n = 0; n < count; n++) {
        int64_t began = now();
        jobs[n].done = jobs[n].run(jobs[n].given);
        jobs[n].took = now() - began;
    }
    return count;
}

typedef struct {
    int64_t searches;
    int64_t most; /* as many rows as `out` has room for */
    int64_t *out;
    Found found[]; /* by each search */
} FoundGiven;

static int by_number(const void *one, const void *other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

/* The rows that searches before it found, ascending, each once; returns their number. None if together
 * they may be more than `most`. */
API int64_t kernel_found_rows(const void *all_given)
{
    const FoundGiven *given = all_given;
    int64_t all = 0, count = 0;
    for (int64_t n = 0; n < given->searches; n++) {
        int64_t own = *given->found[n].count;
        if (own < 0 || own > given->most - all) return 0;
        for (int64_t i = 0; i < own; i++) given->out[all++] = given->found[n].rows[i];
    }
    qsort(given->out, (size_t)all, sizeof *given->out, by_number);
    for (int64_t n = 0; n < all; n++)
        if (!n || given->out[n] != given->out[n - 1]) given->out[count++] = given->out[n];
    return count;
}

void begin_values(const Wanted *wanted)
{
    int64_t many = *wanted->count;
    const Found *known = &wanted->known;
    for (int64_t i = 0; i < many; i++) wanted->values[i] = NAN;
    for (int64_t n = 0; known->rows && n < *known->count; n++) {
        int64_t at = seek_row(wanted->rows, 0, many, known->rows[n]);
        if (at < many && wanted->rows[at] == known->rows[n]) wanted->values[at] = known->scores[n];
    }
}
