/* Runs several calls of the kernel in one: between two calls from Python a thread would wait for the
 * interpreter's lock. */
#include "kernel.h"

#include <time.h>

typedef struct {
    int64_t (*run)(const void *given);
    const void *given; /* what it is given, in the order of `_JOBS` in kernel/library.py */
    int64_t done;      /* what it returns */
    int64_t took;      /* nanoseconds, for people */
} Job;

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
