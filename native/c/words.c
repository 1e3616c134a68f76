/* The word race: what every leaf of a query adds to every row, and the best rows.
 * Twin: lanes/maxscore.py with lanes/bm25_score.py. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 256, FIELDS = 256 };

/* One leaf of the query in one segment. */
typedef struct {
    const int32_t *docs;   /* ascending */
    const uint8_t *fields;
    const int32_t *tfs;
    int64_t size;
    const double *factors; /* by field: weight times idf; NaN if the leaf does not count there */
    double times;
} Leaf;

/* The numbers of a segment that all leaves share. */
typedef struct {
    const int32_t *const *lengths; /* by field: the length of each row */
    const double *means;           /* by field */
    double k1, b;
} Fields;

/* values[i] = times * snap(factor * saturation), for postings of one field */
CLONES static void one_field(
    const int32_t *restrict docs, const int32_t *restrict tfs, int64_t size,
    const int32_t *restrict lengths, double mean, double factor, double times, double k1, double b,
    double *restrict values)
{
    double more = k1 + 1.0, rest = 1.0 - b;
    for (int64_t i = 0; i < size; i++) {
        double tf = (double)tfs[i], length = (double)lengths[docs[i]];
        double norm = k1 * (rest + b * (length / mean));
        double share = factor * (tf * more / (tf + norm));
        values[i] = times * (rint(share * GRID) * STEP);
    }
}

static void values_of(const Leaf *leaf, const Fields *shared, int64_t from, int64_t size, double *values)
{
    const uint8_t *fields = leaf->fields + from;
    int64_t done = 0;
    while (done < size) {
        /* Postings of a row are adjacent; most rows have a word in one field only. */
        int64_t end = done + 1;
        uint8_t field = fields[done];
        while (end < size && fields[end] == field) end++;
        if (!isnan(leaf->factors[field]))
            one_field(leaf->docs + from + done, leaf->tfs + from + done, end - done,
                      shared->lengths[field], shared->means[field], leaf->factors[field],
                      leaf->times, shared->k1, shared->b, values + done);
        done = end;
    }
}

/* The first place at or after `from` whose document is at least `doc`. */
static int64_t seek(const int32_t *docs, int64_t from, int64_t size, int32_t doc)
{
    int64_t step = 1, low = from, high = from;
    while (high < size && docs[high] < doc) {
        low = high + 1;
        high += step;
        step *= 2;
    }
    if (high > size) high = size;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (docs[middle] < doc) low = middle + 1;
        else high = middle;
    }
    return low;
}

static void gather(
    Leaf *leaves, int64_t count, const int32_t *const *docs, const uint8_t *const *fields,
    const int32_t *const *tfs, const int64_t *sizes, const double *factors, const double *times)
{
    for (int64_t n = 0; n < count; n++)
        leaves[n] = (Leaf){docs[n], fields[n], tfs[n], sizes[n], factors + n * FIELDS, times[n]};
}

/* The rows inside `mask` (NULL: all) that may belong to the best `pool`, with their scores; returns
 * their number. `out_docs` and `out_scores` have room for every row. Rows below `floor` are left out:
 * the pool is full without them. */
API int64_t kernel_words_best(
    const int32_t *const *docs, const uint8_t *const *fields, const int32_t *const *tfs,
    const int64_t *sizes, const double *factors, const double *times, int64_t count,
    const int32_t *const *lengths, const double *means, double k1, double b, const uint8_t *mask,
    int64_t rows, int64_t pool, double floor, int32_t *out_docs, double *out_scores)
{
    Fields shared = {lengths, means, k1, b};
    int64_t wide = rows < BLOCK ? rows : BLOCK;
    Leaf *leaves = malloc((size_t)(count + 1) * sizeof(Leaf));
    int64_t *at = calloc((size_t)(count + 1), sizeof(int64_t));
    double *sums = malloc((size_t)(wide + 1) * sizeof(double));
    uint8_t *hit = malloc((size_t)(wide + 1));
    double *room = malloc((size_t)(rows + 1) * sizeof(double));
    if (!leaves || !at || !sums || !hit || !room) {
        free(leaves), free(at), free(sums), free(hit), free(room);
        return -1;
    }
    gather(leaves, count, docs, fields, tfs, sizes, factors, times);
    Best best;
    best_begin(&best, out_docs, out_scores, pool, floor);
    double values[CHUNK];
    for (int64_t start = 0; start < rows; start += BLOCK) {
        int64_t end = start + BLOCK < rows ? start + BLOCK : rows, any = 0;
        for (int64_t n = 0; n < count; n++) {
            const Leaf *leaf = leaves + n;
            int64_t last = end < rows ? seek(leaf->docs, at[n], leaf->size, (int32_t)end) : leaf->size;
            if (last > at[n] && !any) {
                memset(sums, 0, (size_t)(end - start) * sizeof(double));
                memset(hit, 0, (size_t)(end - start));
                any = 1;
            }
            while (at[n] < last) {
                int64_t size = last - at[n] < CHUNK ? last - at[n] : CHUNK;
                values_of(leaf, &shared, at[n], size, values);
                for (int64_t i = 0; i < size; i++) {
                    if (isnan(leaf->factors[leaf->fields[at[n] + i]])) continue;
                    int64_t doc = leaf->docs[at[n] + i] - start;
                    sums[doc] += values[i];
                    hit[doc] = 1;
                }
                at[n] += size;
            }
        }
        if (!any) continue;
        for (int64_t from = 0; from < end - start; from += RUN) {
            int64_t upto = from + RUN < end - start ? from + RUN : end - start;
            /* Nearly all runs are below the pool: one comparison skips them. */
            if (run_max(sums + from, upto - from) < best.floor) continue;
            for (int64_t i = from; i < upto; i++) {
                if (!hit[i] || sums[i] < best.floor || (mask && !mask[start + i])) continue;
                BEST_ADD(&best, start + i, sums[i]);
                if (best.count >= best.full) best_narrow(&best, room);
            }
        }
    }
    best_narrow(&best, room);
    free(leaves), free(at), free(sums), free(hit), free(room);
    return best.count;
}

/* The scores of some rows, ascending; NaN for one that no leaf matches. */
API int64_t kernel_words_of(
    const int32_t *const *docs, const uint8_t *const *fields, const int32_t *const *tfs,
    const int64_t *sizes, const double *factors, const double *times, int64_t count,
    const int32_t *const *lengths, const double *means, double k1, double b, const int32_t *wanted,
    int64_t many, double *out)
{
    Fields shared = {lengths, means, k1, b};
    for (int64_t i = 0; i < many; i++) out[i] = NAN;
    for (int64_t n = 0; n < count; n++) {
        Leaf leaf = {docs[n], fields[n], tfs[n], sizes[n], factors + n * FIELDS, times[n]};
        int64_t at = 0;
        for (int64_t i = 0; i < many && at < leaf.size; i++) {
            at = seek(leaf.docs, at, leaf.size, wanted[i]);
            for (; at < leaf.size && leaf.docs[at] == wanted[i]; at++) {
                double value;
                if (isnan(leaf.factors[leaf.fields[at]])) continue;
                values_of(&leaf, &shared, at, 1, &value);
                out[i] = isnan(out[i]) ? value : out[i] + value;
            }
        }
    }
    return many;
}

/* How often the words of all lists occur in one field of some rows, ascending. Twin: asked_share in
 * pipeline/boosts/echo.py. */
API int64_t kernel_counts(
    const int32_t *const *docs, const uint8_t *const *fields, const int32_t *const *tfs,
    const int64_t *sizes, int64_t count, int64_t field, const int32_t *wanted, int64_t many,
    double *out)
{
    for (int64_t i = 0; i < many; i++) out[i] = 0.0;
    for (int64_t n = 0; n < count; n++) {
        int64_t at = 0;
        for (int64_t i = 0; i < many && at < sizes[n]; i++) {
            at = seek(docs[n], at, sizes[n], wanted[i]);
            for (; at < sizes[n] && docs[n][at] == wanted[i]; at++)
                if (fields[n][at] == field) out[i] += (double)tfs[n][at];
        }
    }
    return many;
}
