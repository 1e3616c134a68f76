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
    const int32_t *begins; /* the first window of each row, and the end of the last */
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

/* The words similar to those of the query; `NearWords` in kernel/calls.py. */
typedef struct {
    const uint16_t *tokens;
    const int32_t *word;
    const double *share;
    int64_t lists;
} Near;

enum {
    WORD_BITS = 20,
    NEAR_BLOCK = 8192, /* windows whose cells fit into the first caches */
    LOOK = 16          /* rows that are scored at once */
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

/* Adds the shares of the words to the cells of the windows from `start` to `end`. A cell has the sum so
 * far in steps of the grid, and below it 1 + the query word that was added last: a word is a number below
 * 2^16, and the shares of all query words are at most about 1 together. `at` and `last` are where the list
 * of each word goes on and ends. */
static void fill_cells(
    const Windows *in, const Near *near, int64_t start, int64_t end, int64_t *at, const int64_t *last,
    uint64_t *cells)
{
    const uint64_t low = ((uint64_t)1 << WORD_BITS) - 1;
    memset(cells, 0, (size_t)(end - start) * sizeof(uint64_t));
    for (int64_t n = 0; n < near->lists; n++) {
        int64_t i = at[n], stop = last[n];
        if (i == stop || in->holding[i] >= end) continue;
        uint64_t own = (uint64_t)near->word[n] + 1;
        uint64_t adds = ((uint64_t)(near->share[n] * GRID) << WORD_BITS) | own;
        for (; i < stop && in->holding[i] < end; i++) {
            uint64_t *cell = cells + (in->holding[i] - start), now = *cell, with = (now & ~low) + adds;
            /* A window that this word has met already gains nothing more; no branch. */
            *cell = now + ((with - now) & -(uint64_t)((now & low) != own));
        }
        at[n] = i;
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

/* Whether each of LOOK rows has one window. */
CLONES static int one_each(const int32_t *begins)
{
    int differs = 0;
    for (int i = 0; i < LOOK; i++) differs |= begins[i + 1] - begins[0] - (i + 1);
    return !differs;
}

/* The scores of LOOK cells. */
CLONES static void scores_of(const uint64_t *cells, double *out)
{
    for (int i = 0; i < LOOK; i++) out[i] = -((double)-(int64_t)(cells[i] >> WORD_BITS) * STEP); /* -0.0 for none */
}

/* Writes the scores of the rows whose windows end before `end`, from row `row` on; the cells begin with
 * window `start`. `before` is the largest
 * sum of the windows that this row has in earlier blocks. Returns the next row. */
static int64_t score_rows(
    const Windows *in, const uint64_t *cells, int64_t start, int64_t end, int64_t row, uint64_t *before,
    double *scores)
{
    uint64_t most = *before;
    int64_t window = start, look = row; /* from which row on LOOK rows are tried at once */
    for (; row < in->rows; row++) {
        if (row >= look && !most) {
            for (; row + LOOK < in->rows && window + LOOK <= end && one_each(in->begins + row); row += LOOK) {
                scores_of(cells + (window - start), scores + row);
                window += LOOK;
            }
            look = row + LOOK;
        }
        int64_t stop = in->begins[row + 1], upto = stop < end ? stop : end;
        for (; window < upto; window++) {
            uint64_t sum = cells[window - start] >> WORD_BITS;
            most = sum > most ? sum : most;
        }
        if (stop > end) break; /* it has more windows in the next block */
        scores[row] = -((double)-(int64_t)most * STEP);
        most = 0;
    }
    *before = most;
    return row;
}

/* Searches one segment, block by block, so that what is added up is still in the caches when it is read;
 * returns how many rows are readable. */
static int64_t search_segment(
    const Searched *each, const Near *near, uint64_t *cells, int64_t *at, int64_t *last, Best *best,
    double *scores, double *sums)
{
    const Windows *in = &each->windows;
    int64_t row = 0, readable = 0, start = 0, end;
    uint64_t most = 0;
    for (int64_t n = 0; n < near->lists; n++) span_of(in, near->tokens[n], at + n, last + n);
    do {
        end = start + NEAR_BLOCK < in->windows ? start + NEAR_BLOCK : in->windows;
        fill_cells(in, near, start, end, at, last, cells);
        int64_t done = row, rows;
        row = score_rows(in, cells, start, end, row, &most, scores);
        rows = row - done;
        best_of(best, scores + done, each->mask ? each->mask + done : NULL, in->numbers + done, rows);
        readable += add_spread(scores + done, each->readable ? each->readable + done : NULL, rows, sums);
    } while ((start = end) < in->windows);
    return readable;
}

typedef struct {
    const Searched *segments;
    int64_t count;
    Near near;
    int64_t pool;
    double *every;  /* the score of each row, segment by segment; -0.0 for none */
    int64_t *rows;  /* room for all rows */
    double *scores; /* likewise */
    double *spread; /* how many rows are readable, the sum of their scores and that of their squares */
} WindowsGiven;

/* `near.tokens` are the words similar to those of the query, `near.word[n]` is the query word that
 * near.tokens[n] belongs to, in ascending order, and the most similar come first. A window counts each
 * query word once, by the first of them that it has. Writes what `WindowsGiven` says; returns how many
 * rows may belong to the best `pool`. */
API int64_t kernel_windows(const void *all_given)
{
    const WindowsGiven *given = all_given;
    int64_t all = 0, done = 0, readable = 0, lists = given->near.lists;
    for (int64_t n = 0; n < given->count; n++) all += given->segments[n].windows.rows;
    Best best;
    double *spread = given->spread;
    int failed = best_begin(&best, given->rows, given->scores, given->pool, all);
    uint64_t *cells = malloc(NEAR_BLOCK * sizeof(uint64_t));
    int64_t *spans = malloc((size_t)(2 * lists + 1) * sizeof(int64_t));
    spread[1] = spread[2] = 0.0;
    for (int64_t n = 0; n < given->count && !failed && cells && spans; n++) {
        Searched each = given->segments[n];
        each.mask = real_mask(each.mask, each.windows.rows);
        each.readable = real_mask(each.readable, each.windows.rows);
        readable += search_segment(
            &each, &given->near, cells, spans, spans + lists, &best, given->every + done, spread + 1);
        done += each.windows.rows;
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
