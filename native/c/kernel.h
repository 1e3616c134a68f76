/* The native kernel of Memoriter.
 *
 * Every function has a twin in numpy that gives the same bits:
 *  - arithmetic on doubles follows the twin operation by operation, without contraction;
 *  - numbers that are added are multiples of 2^-32 below 2^21, so sums do not depend on their order.
 * No function allocates what it returns, calls Python or keeps state: the caller gives every array,
 * and several threads may call at the same time. A function returns a negative number if memory for
 * its own work is missing.
 */
#ifndef MEMORITER_KERNEL_H
#define MEMORITER_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#define KERNEL_ABI 7
#define API __attribute__((visibility("default")))

/* The best instruction set of the machine is chosen when the library is loaded. */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define CLONED
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define CLONES
#endif

#define GRID 4294967296.0 /* steps of the grid in 1 */
#define STEP (1.0 / 4294967296.0)

/* The rows that may belong to the best `pool`, and the score that one of them needs at least. */
typedef struct {
    int64_t *rows; /* their numbers; rows and scores have room for every row */
    double *scores;
    double *room; /* as many doubles more */
    int64_t count;
    int64_t pool;
    int64_t full; /* the count at which rows below the pool are dropped */
    double floor;
} Best;

/* Returns a negative number without memory for the `most` rows that may come. */
int best_begin(Best *best, int64_t *rows, double *scores, int64_t pool, int64_t most);

/* Adds a row; the caller has compared its score with the floor. */
void best_add(Best *best, int64_t row, double score);

/* Adds those of `size` rows inside `mask` (NULL: all) that may belong to the pool. A row without a score
 * has -0.0. */
void best_of(Best *best, const double *scores, const uint8_t *mask, const int64_t *rows, int64_t size);

/* Drops what is below the pool, and frees the memory; returns how many rows are left. */
int64_t best_end(Best *best);

/* The `count`-th largest value; reorders the values. */
double nth_largest(double *values, int64_t size, int64_t count);

/* NULL for a mask that has every row. */
const uint8_t *real_mask(const uint8_t *mask, int64_t rows);

/* The first place at or after `from` whose number, of ascending ones, is at least `wanted`. */
int64_t seek_row(const int64_t *numbers, int64_t from, int64_t rows, int64_t wanted);

/* Rows that a search found; their count is what its job returns. */
typedef struct {
    const int64_t *rows, *count;
    const double *scores;
} Found;

/* The rows that a job is about, by number ascending, each once. */
typedef struct {
    const int64_t *rows, *count; /* the count may be what a job before it returns */
    Found known;                 /* those that have a value; its rows may be NULL */
    double *values;
} Wanted;

/* Sets the value of each row that is known, and NaN for all others. */
void begin_values(const Wanted *wanted);

/* A call that is made with others. */
typedef struct {
    int64_t (*run)(const void *given);
    const void *given; /* what it is given, in the order of `_JOBS` in kernel/library.py */
    int64_t done;      /* what it returns */
    int64_t took;      /* nanoseconds, for people */
} Job;

API int64_t kernel_run(Job *jobs, int64_t count);

/* The lock of threads that take turns (turns.c); the caller gives it this much memory. */
typedef struct Turn Turn;
#define TURN_BYTES 128

#endif
