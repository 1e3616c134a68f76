/* Kin: the score of the best window of every row, for the words of a query and their neighbours.
 * Twin: lanes/kin_scan.py. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the windows of a word begin and end in `holding`; both 0 if no window has it. */
static void span_of(
    const uint16_t *tokens, int64_t known, const int64_t *starts, uint16_t wanted, int64_t *first,
    int64_t *last)
{
    int64_t low = 0, high = known;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (tokens[middle] < wanted) low = middle + 1;
        else high = middle;
    }
    int there = low < known && tokens[low] == wanted;
    *first = there ? starts[low] : 0;
    *last = there ? starts[low + 1] : 0;
}

/* `near` are the words similar to those of the query, `word[n]` is the query word that near[n]
 * belongs to, in ascending order, and the most similar come first. A window counts each query word
 * once, by the first of them that it has. Writes the score of each row; returns 0. */
API int64_t kernel_windows(
    const uint16_t *tokens, int64_t known, const int64_t *starts, const int32_t *holding,
    const int32_t *begins, int64_t rows, const uint16_t *near, const int32_t *word,
    const double *share, int64_t lists, double *out)
{
    int64_t windows = begins[rows], wide = windows < BLOCK ? windows : BLOCK;
    double *sums = malloc((size_t)(wide + 1) * sizeof(double));
    int32_t *by = malloc((size_t)(wide + 1) * sizeof(int32_t));
    int64_t *at = malloc((size_t)(lists + 1) * sizeof(int64_t));
    int64_t *last = malloc((size_t)(lists + 1) * sizeof(int64_t));
    if (!sums || !by || !at || !last) {
        free(sums), free(by), free(at), free(last);
        return -1;
    }
    memset(out, 0, (size_t)rows * sizeof(double));
    for (int64_t n = 0; n < lists; n++) span_of(tokens, known, starts, near[n], at + n, last + n);
    int64_t row = 0;
    for (int64_t start = 0; start < windows; start += BLOCK) {
        int64_t end = start + BLOCK < windows ? start + BLOCK : windows;
        memset(sums, 0, (size_t)(end - start) * sizeof(double));
        memset(by, 0xff, (size_t)(end - start) * sizeof(int32_t));
        for (int64_t n = 0; n < lists; n++) {
            int64_t i = at[n], stop = last[n];
            int32_t own = word[n];
            double value = share[n];
            for (; i < stop && holding[i] < end; i++) {
                int64_t window = holding[i] - start;
                /* A window that this word has met already gains nothing more; no branch. */
                double gain = by[window] == own ? 0.0 : value;
                sums[window] += gain;
                by[window] = own;
            }
            at[n] = i;
        }
        /* A row may reach into the next block: its best window so far is kept in `out`. */
        while (row < rows && begins[row] < end) {
            int64_t from = begins[row] > start ? begins[row] : start;
            int64_t upto = begins[row + 1] < end ? begins[row + 1] : end;
            double most = out[row];
            for (int64_t i = from; i < upto; i++) most = sums[i - start] > most ? sums[i - start] : most;
            out[row] = most;
            if (begins[row + 1] > end) break;
            row++;
        }
    }
    free(sums), free(by), free(at), free(last);
    return 0;
}

/* The rows with a score above 0 inside `mask` (NULL: all) that may belong to the best `pool`;
 * returns their number. Rows below `floor` are left out: the pool is full without them. */
API int64_t kernel_best(
    const double *scores, const uint8_t *mask, int64_t rows, int64_t pool, double floor,
    int32_t *out_docs, double *out_scores)
{
    double *room = malloc((size_t)(rows + 1) * sizeof(double));
    if (!room) return -1;
    int64_t runs = (rows + RUN - 1) / RUN;
    if (!mask && runs >= pool) {
        /* At least `pool` rows reach the pool-th largest maximum of a run. */
        for (int64_t n = 0; n < runs; n++)
            room[n] = run_max(scores + n * RUN, n + 1 < runs ? RUN : rows - n * RUN);
        double reached = nth_largest(room, runs, pool);
        floor = reached > floor ? reached : floor;
    }
    Best best;
    best_begin(&best, out_docs, out_scores, pool, floor);
    for (int64_t from = 0; from < rows; from += RUN) {
        int64_t upto = from + RUN < rows ? from + RUN : rows;
        if (run_max(scores + from, upto - from) < best.floor) continue;
        for (int64_t i = from; i < upto; i++) {
            if (!(scores[i] > 0.0) || scores[i] < best.floor || (mask && !mask[i])) continue;
            BEST_ADD(&best, i, scores[i]);
            if (best.count >= best.full) best_narrow(&best, room);
        }
    }
    best_narrow(&best, room);
    free(room);
    return best.count;
}

/* sums[0]: the sum of the scores inside `mask`, sums[1]: of their squares, each on the grid; returns
 * how many there are. Both sums are exact, so their order does not matter. */
CLONES API int64_t kernel_spread(const double *scores, const uint8_t *mask, int64_t rows, double *sums)
{
    int64_t count = 0;
    double total[8] = {0}, squares[8] = {0};
    int64_t i = 0;
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
    sums[0] = sums[1] = 0.0;
    for (int j = 0; j < 8; j++) sums[0] += total[j], sums[1] += squares[j];
    return count;
}
