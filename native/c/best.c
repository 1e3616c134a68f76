/* Keeps the best rows while scores arrive, and every row that ties with the last of them. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 64, SHORTEST = 8 }; /* rows of a run: every n-th one */

API int64_t kernel_abi(void) { return KERNEL_ABI; }

const uint8_t *real_mask(const uint8_t *mask, int64_t rows)
{
    return mask && memchr(mask, 0, (size_t)rows) ? mask : NULL;
}

/* The largest of values[n], values[n + runs], values[n + 2 * runs] … for each n below `runs`. */
CLONES static void maxima(const double *restrict values, int64_t size, int64_t runs, double *restrict out)
{
    for (int64_t n = 0; n < runs; n++) out[n] = values[n];
    for (values += runs, size -= runs; size > 0; values += runs, size -= runs) {
        int64_t some = size < runs ? size : runs;
        for (int64_t n = 0; n < some; n++) out[n] = values[n] > out[n] ? values[n] : out[n];
    }
}

double nth_largest(double *values, int64_t size, int64_t count)
{
    int64_t low = 0, high = size - 1, want = count - 1;
    while (low < high) {
        double pivot = values[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (values[i] > pivot) i++;
            while (values[j] < pivot) j--;
            if (i <= j) {
                double kept = values[i];
                values[i++] = values[j];
                values[j--] = kept;
            }
        }
        if (want <= j) high = j;
        else if (want >= i) low = i;
        else break;
    }
    return values[want];
}

int best_begin(Best *best, int64_t *rows, double *scores, int64_t pool, int64_t most)
{
    double *room = malloc((size_t)(most + 1) * sizeof(double));
    *best = (Best){rows, scores, room, 0, pool, 2 * pool + 1024, -INFINITY};
    return room ? 0 : -1;
}

/* Drops the rows below the pool. */
static void narrow(Best *best)
{
    if (best->count <= best->pool) return;
    memcpy(best->room, best->scores, (size_t)best->count * sizeof(double));
    double floor = nth_largest(best->room, best->count, best->pool);
    int64_t kept = 0;
    for (int64_t i = 0; i < best->count; i++) {
        if (best->scores[i] >= floor) {
            best->rows[kept] = best->rows[i];
            best->scores[kept++] = best->scores[i];
        }
    }
    best->count = kept;
    best->floor = floor;
    /* Many ties may all stay: then the next time comes later. */
    best->full = 2 * (kept > best->pool ? kept : best->pool) + 1024;
}

void best_add(Best *best, int64_t row, double score)
{
    best->rows[best->count] = row;
    best->scores[best->count++] = score;
    if (best->count >= best->full) narrow(best);
}

void best_of(Best *best, const double *scores, const uint8_t *mask, const int64_t *rows, int64_t size)
{
    int64_t run = LONGEST;
    while (run > SHORTEST && size < 4 * run * best->pool) run /= 2;
    int64_t runs = (size + run - 1) / run;
    double *tops = malloc((size_t)(2 * runs + 1) * sizeof(double));
    if (tops) maxima(scores, size, runs, tops);
    if (tops && !mask && best->floor == -INFINITY && runs >= best->pool && best->pool > 0) {
        /* At least `pool` rows reach the pool-th largest maximum of a run. */
        memcpy(tops + runs, tops, (size_t)runs * sizeof(double));
        best->floor = nth_largest(tops + runs, runs, best->pool);
    }
    for (int64_t n = 0; n < runs; n++) {
        if (tops && tops[n] < best->floor) continue;
        for (int64_t i = n; i < size; i += runs)
            if (scores[i] >= best->floor && !signbit(scores[i]) && (!mask || mask[i]))
                best_add(best, rows[i], scores[i]);
    }
    free(tops);
    if (best->count >= 2 * best->pool) narrow(best); /* a higher floor spares the next call most runs */
}

int64_t best_end(Best *best)
{
    narrow(best);
    free(best->room);
    return best->count;
}
