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

#define KERNEL_ABI 3
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

enum { BLOCK = 32768 }; /* rows whose accumulators fit into the second-level cache */

/* The rows that may belong to the best `pool`, and the score that one of them needs at least. */
typedef struct {
    int32_t *docs;
    double *scores;
    int64_t count;
    int64_t pool;
    int64_t full; /* the count at which rows below the pool are dropped */
    double floor;
} Best;

enum { RUN = 64 };

/* The largest of `size` values, at most RUN. */
double run_max(const double *values, int64_t size);

/* `floor` is a score that the pool reaches already, by rows of other segments; -INFINITY if unknown. */
void best_begin(Best *best, int32_t *docs, double *scores, int64_t pool, double floor);

/* The `count`-th largest value; reorders the values. */
double nth_largest(double *values, int64_t size, int64_t count);
int best_narrow(Best *best, double *room);

/* Adds a row; docs and scores have room for every row of the segment. */
#define BEST_ADD(best, doc, score)                       \
    do {                                                 \
        (best)->docs[(best)->count] = (int32_t)(doc);    \
        (best)->scores[(best)->count++] = (score);       \
    } while (0)

#endif
