/* The sorted dictionaries of segments: looks terms up in them, joins several.
 * Twins: TermLists in index/term_lists.py, union in index/dictionary.py. */
#include "kernel.h"

#include <stdlib.h>
#include <string.h>

/* Below 0, 0 or above 0, as the first string sorts before, like or behind the second. */
static int compare(const uint8_t *one, int64_t size, const uint8_t *other, int64_t length)
{
    int order = memcmp(one, other, (size_t)(size < length ? size : length));
    return order ? order : (size > length) - (size < length);
}

/* How many different rows ascending postings have. */
CLONES static int64_t distinct(const int32_t *docs, int64_t size)
{
    int64_t count = size > 0;
    for (int64_t i = 1; i < size; i++) count += docs[i] != docs[i - 1];
    return count;
}

/* Dictionary and posting lists of a segment; `TermIndex` in kernel/terms.py. */
typedef struct {
    const uint8_t *blob;
    const int64_t *at; /* the offsets of the strings */
    int64_t count;
    const int64_t *starts;
    const int32_t *docs;
} Terms;

static void find(const Terms *in, const uint8_t *term, int64_t size, int64_t *out)
{
    int64_t low = 0, high = in->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2, from = in->at[middle];
        if (compare(in->blob + from, in->at[middle + 1] - from, term, size) < 0) low = middle + 1;
        else high = middle;
    }
    int there = low < in->count && !compare(in->blob + in->at[low], in->at[low + 1] - in->at[low], term, size);
    out[0] = there ? in->starts[low] : 0;
    out[1] = there ? in->starts[low + 1] : 0;
    out[2] = distinct(in->docs + out[0], out[1] - out[0]);
}

/* For each segment and wanted term: where its postings begin and end, and how many rows they have; all
 * 0 if the dictionary does not have it. `wanted_at` are the offsets of the terms. */
API int64_t kernel_find(
    const Terms *segments, int64_t count, const uint8_t *wanted, const int64_t *wanted_at, int64_t many,
    int64_t *out)
{
    for (int64_t n = 0; n < count; n++)
        for (int64_t i = 0; i < many; i++, out += 3)
            find(segments + n, wanted + wanted_at[i], wanted_at[i + 1] - wanted_at[i], out);
    return many;
}

/* Joins dictionaries, whose strings lie one behind the other: string n ends at `at[n + 1]`, dictionary d
 * begins with string `first[d]`. Writes the distinct strings in their order, their offsets, and for each
 * old string the new number; returns how many distinct ones there are. */
API int64_t kernel_union(const uint8_t *blob, const int64_t *at, const int64_t *first, int64_t many,
                         uint8_t *out, int64_t *out_at, int64_t *numbers)
{
    int64_t *next = malloc((size_t)(many + 1) * sizeof *next);
    if (next == NULL) return -1;
    memcpy(next, first, (size_t)many * sizeof *next);
    int64_t count = 0;
    for (out_at[0] = 0;; count++) {
        const uint8_t *least = NULL;
        int64_t size = 0;
        for (int64_t d = 0; d < many; d++) {
            if (next[d] == first[d + 1]) continue;
            const uint8_t *own = blob + at[next[d]];
            int64_t length = at[next[d] + 1] - at[next[d]];
            if (least == NULL || compare(own, length, least, size) < 0) {
                least = own;
                size = length;
            }
        }
        if (least == NULL) break;
        for (int64_t d = 0; d < many; d++) {
            if (next[d] == first[d + 1]) continue;
            int64_t begin = at[next[d]];
            if (at[next[d] + 1] - begin == size && memcmp(blob + begin, least, (size_t)size) == 0)
                numbers[next[d]++] = count;
        }
        memcpy(out + out_at[count], least, (size_t)size);
        out_at[count + 1] = out_at[count] + size;
    }
    free(next);
    return count;
}
