/* Kin: the score of the best window of every row, for the words of a query and their neighbours; the
 * best rows; how all rows are scored. Twin: lanes/kin_scan.py. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The windows of a segment by the words that they have; `WindowIndex` in kernel/calls.py. */
typedef struct {
    const uint16_t *tokens;
    int64_t known;
    const int64_t *starts;
    const int32_t *holding;
    const int32_t *owners; /* the row of each window */
    int64_t windows;
    int64_t rows;
    const int64_t *numbers; /* of the rows */
} Windows;

/* A segment in a search. */
typedef struct {
    Windows windows;
    const uint8_t *mask;     /* the rows that may be found */
    const uint8_t *readable; /* the rows that are counted */
} Searched;

enum {
    WORD_BITS = 20,
    NEAR_BLOCK = 8192 /* windows whose cells fit into the first caches */
};

/* Where the windows of a word begin and end in `holding`; both 0 if no window has it. */
static void span_of(const Windows *in, uint16_t wanted, int64_t *first, int64_t *last)
{
    int64_t low = 0, high = in->known;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (in->tokens[middle] < wanted) low = middle + 1;
        else high = middle;
    }
    int there = low < in->known && in->tokens[low] == wanted;
    *first = there ? in->starts[low] : 0;
    *last = there ? in->starts[low + 1] : 0;
}

/* Writes the score of each row. `cells` has room for NEAR_BLOCK windows, `at` and `last` for `lists`
 * spans. A cell has the sum so far in steps of the grid, and below it 1 + the query word that was added
 * last: a word is a number below 2^16, and the
 * shares of all query words are at most about 1 together. */
static void score_rows(
    const Windows *in, const uint16_t *near, const int32_t *word, const double *share, int64_t lists,
    uint64_t *cells, int64_t *at, int64_t *last, double *out)
{
    const uint64_t low = ((uint64_t)1 << WORD_BITS) - 1;
    for (int64_t i = 0; i < in->rows; i++) out[i] = -0.0;
    for (int64_t n = 0; n < lists; n++) span_of(in, near[n], at + n, last + n);
    for (int64_t start = 0; start < in->windows; start += NEAR_BLOCK) {
        int64_t end = start + NEAR_BLOCK < in->windows ? start + NEAR_BLOCK : in->windows;
        memset(cells, 0, (size_t)(end - start) * sizeof(uint64_t));
        for (int64_t n = 0; n < lists; n++) {
            int64_t i = at[n], stop = last[n];
            uint64_t own = (uint64_t)word[n] + 1;
            uint64_t adds = ((uint64_t)(share[n] * GRID) << WORD_BITS) | own;
            for (; i < stop && in->holding[i] < end; i++) {
                uint64_t *cell = cells + (in->holding[i] - start), now = *cell, with = (now & ~low) + adds;
                /* A window that this word has met already gains nothing more; no branch. */
                *cell = now + ((with - now) & -(uint64_t)((now & low) != own));
            }
            at[n] = i;
        }
        for (int64_t i = start; i < end; i++) {
            double sum = (double)(int64_t)(cells[i - start] >> WORD_BITS) * STEP, *own = out + in->owners[i];
            *own = sum > *own ? sum : *own;
        }
    }
}

/* Adds to sums[0] the scores inside `mask`, to sums[1] their squares, each on the grid; returns how
 * many there are. Both sums are exact, so their order does not matter. */
CLONES static int64_t add_spread(const double *scores, const uint8_t *mask, int64_t rows, double *sums)
{
    int64_t count = 0;
    double total[8] = {0}, squares[8] = {0};
    int64_t i = 0;
    for (; !mask && i + 8 <= rows; i += 8) {
        for (int j = 0; j < 8; j++) {
            total[j] += scores[i + j];
            squares[j] += rint(scores[i + j] * scores[i + j] * GRID) * STEP;
        }
    }
    for (; i + 8 <= rows; i += 8) {
        for (int j = 0; j < 8; j++) {
            double value = mask && !mask[i + j] ? 0.0 : scores[i + j];
            total[j] += value;
            squares[j] += rint(value * value * GRID) * STEP;
        }
    }
    for (; i < rows; i++) {
        double value = mask && !mask[i] ? 0.0 : scores[i];
        total[0] += value;
        squares[0] += rint(value * value * GRID) * STEP;
    }
    if (mask)
        for (i = 0; i < rows; i++) count += mask[i] != 0;
    else
        count = rows;
    for (int j = 0; j < 8; j++) sums[0] += total[j], sums[1] += squares[j];
    return count;
}

/* `near` are the words similar to those of the query, `word[n]` is the query word that near[n]
 * belongs to, in ascending order, and the most similar come first. A window counts each query word
 * once, by the first of them that it has. Writes the score of each row, segment by segment, -0.0 for
 * none; the numbers and scores of those that may belong to the best `pool`; and in `spread` how many rows are
 * readable, the sum of their scores and that of their squares. Returns how many may belong. */
API int64_t kernel_windows(
    const Searched *segments, int64_t count, const uint16_t *near, const int32_t *word,
    const double *share, int64_t lists, int64_t pool, double *scores, int64_t *out_rows,
    double *out_scores, double *spread)
{
    int64_t all = 0, done = 0, readable = 0;
    for (int64_t n = 0; n < count; n++) all += segments[n].windows.rows;
    Best best;
    int failed = best_begin(&best, out_rows, out_scores, pool, all);
    uint64_t *cells = malloc(NEAR_BLOCK * sizeof(uint64_t));
    int64_t *spans = malloc((size_t)(2 * lists + 1) * sizeof(int64_t));
    spread[1] = spread[2] = 0.0;
    for (int64_t n = 0; n < count && !failed && cells && spans; n++) {
        const Windows *in = &segments[n].windows;
        double *here = scores + done;
        score_rows(in, near, word, share, lists, cells, spans, spans + lists, here);
        best_of(&best, here, real_mask(segments[n].mask, in->rows), in->numbers, in->rows);
        readable += add_spread(here, real_mask(segments[n].readable, in->rows), in->rows, spread + 1);
        done += in->rows;
    }
    spread[0] = (double)readable;
    failed |= !cells || !spans;
    free(cells), free(spans);
    int64_t kept = best_end(&best);
    return failed ? -1 : kept;
}

/* For each wanted word, how many rows inside `mask` (NULL: all) have it.  Twin: Windows.row_counts in index/windows.py. */
API int64_t kernel_holders(
    const Windows *in, const uint8_t *mask, const uint16_t *wanted,
    int64_t many, int64_t *out)
{
    for (int64_t n = 0; n < many; n++) {
        int64_t first, last, rows = 0;
        int32_t before = -1;
        span_of(in, wanted[n], &first, &last);
        for (int64_t i = first; i < last; i++) {
            int32_t row = in->owners[in->holding[i]];
            rows += row != before && (!mask || mask[row]);
            before = row;
        }
        out[n] = rows;
    }
    return many;
}
