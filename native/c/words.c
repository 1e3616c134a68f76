/* The word race: what every leaf of a query adds to every row, and the best rows.
 * Twin: lanes/maxscore.py with lanes/bm25_score.py. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 256,
    FIELDS = 256,
    BLOCK = 16384, /* rows whose sums fit into the second-level cache */
    SPARSE = 4,    /* rows are found by their postings in blocks with so many times more rows */
    FEW = 16       /* rows are looked up in lists with so many times more postings together */
};

/* The postings of a leaf of the query in one segment; `WordLists` in kernel/calls.py. */
typedef struct {
    const int32_t *docs; /* ascending */
    const uint8_t *fields;
    const int32_t *tfs;
    int64_t size;
    int64_t leaf;
} List;

/* A segment in a search. */
typedef struct {
    int64_t first, count;          /* of its lists */
    const int32_t *const *lengths; /* by field: the length of each row */
    int64_t rows;
    const int64_t *numbers; /* of the rows, ascending */
    const uint8_t *mask;    /* the rows that may be found; NULL: all */
} Part;

/* A leaf of the query. */
typedef struct {
    double boost, idf, times; /* how often the query has it */
} Leaf;

/* What all segments share. */
typedef struct {
    const double *fields; /* by field: its weight; NaN where nothing counts */
    int64_t step;         /* from the weights for one leaf to those for the next; 0 if all have the same */
    const Leaf *leaves;
    const double *means; /* by field: the mean length */
    double k1, b;
} Weights;

/* What a posting of a leaf in a field counts; NaN if it does not. */
static inline double factor_of(const Weights *weights, int64_t leaf, uint8_t field)
{
    const Leaf *by = weights->leaves + leaf;
    return weights->fields[leaf * weights->step + field] * by->boost * by->idf;
}

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

/* The same for one posting; NaN where the leaf does not count. */
static inline __attribute__((always_inline)) double value_of(
    const List *list, const Part *part, const Weights *weights, int64_t at)
{
    uint8_t field = list->fields[at];
    double factor = factor_of(weights, list->leaf, field);
    if (isnan(factor)) return NAN;
    double k1 = weights->k1, b = weights->b, more = k1 + 1.0, rest = 1.0 - b;
    double tf = (double)list->tfs[at], length = (double)part->lengths[field][list->docs[at]];
    double norm = k1 * (rest + b * (length / weights->means[field]));
    double share = factor * (tf * more / (tf + norm));
    return weights->leaves[list->leaf].times * (rint(share * GRID) * STEP);
}

/* Adds postings of several fields to the sums of the rows from `start` on. */
CLONES static void add_several(
    const List *list, const Part *part, const Weights *weights, int64_t from, int64_t size, int64_t start,
    double *sums)
{
    for (int64_t i = from; i < from + size; i++) {
        double value = value_of(list, part, weights, i);
        if (!isnan(value)) sums[list->docs[i] - start] += value;
    }
}

/* Adds at most CHUNK postings to the sums of the rows from `start` on. */
static void add_chunk(
    const List *list, const Part *part, const Weights *weights, int64_t from, int64_t size, int64_t start,
    double *sums)
{
    double values[CHUNK];
    const int32_t *docs = list->docs + from;
    const uint8_t *fields = list->fields + from;
    /* Most words occur in one field only. */
    if (memcmp(fields, fields + 1, (size_t)size - 1)) {
        add_several(list, part, weights, from, size, start, sums);
        return;
    }
    double factor = factor_of(weights, list->leaf, fields[0]);
    if (isnan(factor)) return;
    one_field(docs, list->tfs + from, size, part->lengths[fields[0]], weights->means[fields[0]], factor,
              weights->leaves[list->leaf].times, weights->k1, weights->b, values);
    for (int64_t i = 0; i < size; i++) sums[docs[i] - start] += values[i];
}

/* The first place at or after `from` whose element, of ascending ones, is at least `wanted`. */
#define SEEK(name, type)                                                      \
    static int64_t name(const type *in, int64_t from, int64_t size, type wanted) \
    {                                                                         \
        int64_t step = 1, low = from, high = from;                            \
        while (high < size && in[high] < wanted) {                            \
            low = high + 1;                                                   \
            high += step;                                                     \
            step *= 2;                                                        \
        }                                                                     \
        if (high > size) high = size;                                         \
        while (low < high) {                                                  \
            int64_t middle = low + (high - low) / 2;                          \
            if (in[middle] < wanted) low = middle + 1;                        \
            else high = middle;                                               \
        }                                                                     \
        return low;                                                           \
    }

SEEK(seek, int32_t)
SEEK(seek_number, int64_t)

int64_t seek_row(const int64_t *numbers, int64_t from, int64_t rows, int64_t wanted)
{
    if (from < rows && wanted >= numbers[from]) {
        int64_t guess = from + (wanted - numbers[from]); /* right where no number is left out */
        if (guess < rows && numbers[guess] == wanted) return guess;
    }
    return seek_number(numbers, from, rows, wanted);
}

/* Adds the rows of some postings to the pool, each once, and leaves their sums empty: -0.0. */
static void take_rows(
    const Part *part, const int32_t *docs, int64_t size, const uint8_t *mask, double *sums, Best *best)
{
    for (int64_t i = 0; i < size; i++) {
        double score = sums[docs[i]];
        if (score >= best->floor && !signbit(score) && (!mask || mask[docs[i]]))
            best_add(best, part->numbers[docs[i]], score);
        sums[docs[i]] = -0.0;
    }
}

/* Adds the rows of a segment that may belong to the pool. `at` has room for two numbers for each list. */
static void race(const Part *part, const List *lists, const Weights *weights, int64_t *at, Best *best)
{
    const uint8_t *mask = real_mask(part->mask, part->rows);
    int64_t count = part->count, *ends = at + count;
    /* A row that no leaf matches keeps -0.0: a sum with any value, even 0, is not negative. */
    double sums[BLOCK];
    for (int64_t i = 0; i < BLOCK; i++) sums[i] = -0.0;
    memset(at, 0, (size_t)count * sizeof(int64_t));
    for (int64_t start = 0; start < part->rows; start += BLOCK) {
        int64_t end = start + BLOCK < part->rows ? start + BLOCK : part->rows, many = 0;
        for (int64_t n = 0; n < count; n++) {
            const List *list = lists + n;
            ends[n] = end < part->rows ? seek(list->docs, at[n], list->size, (int32_t)end) : list->size;
            many += ends[n] - at[n];
            for (int64_t from = at[n], size; from < ends[n]; from += size) {
                size = ends[n] - from < CHUNK ? ends[n] - from : CHUNK;
                add_chunk(list, part, weights, from, size, start, sums);
            }
        }
        if (SPARSE * many < end - start) {
            for (int64_t n = 0; n < count; n++)
                take_rows(part, lists[n].docs + at[n], ends[n] - at[n], mask, sums - start, best);
        } else {
            best_of(best, sums, mask ? mask + start : NULL, part->numbers + start, end - start);
            for (int64_t i = 0; i < end - start; i++) sums[i] = -0.0;
        }
        memcpy(at, ends, (size_t)count * sizeof(int64_t));
    }
}

/* The score of a row; NaN if no leaf matches. at[n] is a place in the n-th list at or before the row's. */
CLONES static double score_of(
    const Part *part, const List *lists, const Weights *weights, int32_t doc, int64_t *at)
{
    double sum = NAN;
    for (int64_t n = 0; n < part->count; n++) {
        const List *list = lists + n;
        at[n] = seek(list->docs, at[n], list->size, doc);
        for (int64_t i = at[n]; i < list->size && list->docs[i] == doc; i++) {
            double value = value_of(list, part, weights, i);
            if (!isnan(value)) sum = isnan(sum) ? value : sum + value;
        }
    }
    return sum;
}

/* The same as `race` if few rows are selected: each is looked up instead of reading all lists. */
static void look_up(const Part *part, const List *lists, const Weights *weights, int64_t *at, Best *best)
{
    memset(at, 0, (size_t)part->count * sizeof(int64_t));
    const uint8_t *next = part->mask, *end = part->mask + part->rows;
    for (; next < end && (next = memchr(next, 1, (size_t)(end - next))); next++) {
        int64_t doc = next - part->mask;
        double score = score_of(part, lists, weights, (int32_t)doc, at);
        if (score >= best->floor) best_add(best, part->numbers[doc], score);
    }
}

CLONES static int64_t selected(const uint8_t *mask, int64_t rows)
{
    int64_t count = 0;
    for (int64_t i = 0; i < rows; i++) count += mask[i];
    return count;
}

static int64_t most_lists(const Part *parts, int64_t count)
{
    int64_t most = 0;
    for (int64_t n = 0; n < count; n++) most = parts[n].count > most ? parts[n].count : most;
    return most;
}

typedef struct {
    const Part *parts;
    int64_t count;
    const List *lists;
    Weights weights;
    int64_t pool;
    int64_t *rows; /* room for all rows */
    double *scores; /* likewise */
} WordsGiven;

/* The rows that may belong to the best `pool`, with their scores; returns their number. */
API int64_t kernel_words_best(const void *all_given)
{
    const WordsGiven *given = all_given;
    int64_t all = 0;
    for (int64_t n = 0; n < given->count; n++) all += given->parts[n].rows;
    Best best;
    int failed = best_begin(&best, given->rows, given->scores, given->pool, all);
    int64_t *at = malloc((size_t)(2 * most_lists(given->parts, given->count) + 1) * sizeof(int64_t));
    failed |= !at;
    for (int64_t n = 0; n < given->count && !failed; n++) {
        const Part *part = given->parts + n;
        const List *own = given->lists + part->first;
        int64_t size = 0;
        for (int64_t i = 0; i < part->count; i++) size += own[i].size;
        const uint8_t *mask = real_mask(part->mask, part->rows);
        int few = mask && FEW * selected(mask, part->rows) < size;
        (few ? look_up : race)(part, own, &given->weights, at, &best);
    }
    free(at);
    int64_t kept = best_end(&best);
    return failed ? -1 : kept;
}

typedef struct {
    const Part *parts;
    int64_t count;
    const List *lists;
    Weights weights;
    Wanted wanted;
} WordsOfGiven;

/* The scores of some rows; NaN for one that no leaf matches. */
API int64_t kernel_words_of(const void *all_given)
{
    const WordsOfGiven *given = all_given;
    const int64_t *rows = given->wanted.rows, many = *given->wanted.count;
    int64_t *at = malloc((size_t)(most_lists(given->parts, given->count) + 1) * sizeof(int64_t));
    if (!at) return -1;
    double *values = given->wanted.values;
    begin_values(&given->wanted);
    for (int64_t n = 0; n < given->count; n++) {
        const Part *part = given->parts + n;
        int64_t doc = 0;
        memset(at, 0, (size_t)part->count * sizeof(int64_t));
        for (int64_t i = 0; i < many && doc < part->rows; i++) {
            if (!isnan(values[i])) continue;
            doc = seek_row(part->numbers, doc, part->rows, rows[i]);
            if (doc < part->rows && part->numbers[doc] == rows[i])
                values[i] = score_of(part, given->lists + part->first, &given->weights, (int32_t)doc, at);
        }
    }
    free(at);
    return many;
}

/* The lists of one segment, and its rows. */
typedef struct {
    int64_t first, count; /* of its lists */
    int64_t rows;
    const int64_t *numbers; /* of the rows, ascending */
} CountedPart;

typedef struct {
    const CountedPart *parts;
    int64_t count;
    const List *lists;
    int64_t field;
    Wanted wanted;
} CountsGiven;

/* How often the words of all lists occur in one field of some rows. Twin: `_matched` in
 * pipeline/boosts/echo.py. */
API int64_t kernel_counts(const void *all_given)
{
    const CountsGiven *given = all_given;
    const int64_t *rows = given->wanted.rows, many = *given->wanted.count;
    int32_t *docs = malloc((size_t)(many + 1) * sizeof(int32_t));
    if (!docs) return -1;
    double *values = given->wanted.values;
    for (int64_t i = 0; i < many; i++) values[i] = 0.0;
    for (int64_t s = 0; s < given->count; s++) {
        const CountedPart *part = given->parts + s;
        for (int64_t i = 0, doc = 0; i < many; i++) {
            doc = seek_row(part->numbers, doc, part->rows, rows[i]);
            docs[i] = doc < part->rows && part->numbers[doc] == rows[i] ? (int32_t)doc : -1;
        }
        for (int64_t n = part->first; n < part->first + part->count; n++) {
            const List *list = given->lists + n;
            int64_t at = 0;
            for (int64_t i = 0; i < many && at < list->size; i++) {
                if (docs[i] < 0) continue;
                at = seek(list->docs, at, list->size, docs[i]);
                for (; at < list->size && list->docs[at] == docs[i]; at++)
                    if (list->fields[at] == given->field) values[i] += (double)list->tfs[at];
            }
        }
    }
    free(docs);
    return many;
}
