/* What the index makes of texts: finds and numbers their words, sums vectors of their tokens. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const uint8_t *text;
    uint64_t key;
    int64_t *starts;
    int32_t *sizes;
    int64_t count; /* distinct words */
    int32_t *slots; /* 1 + the number of a word; 0 is free */
    uint64_t *hashes;
    int64_t room; /* slots, a power of 2 */
} Numbers;

static int is_word(uint8_t c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

static int is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

static int is_link(uint8_t c)
{
    switch (c) {
    case '-': case '.': case ':': case '/': case '\\': case '@': case '+': case '#': case '&':
    case '=': case '%': case '?': case '~': case '\'':
        return 1;
    default:
        return 0;
    }
}

/* Where the text goes on after a link that begins at `at`; `at` itself if there is no link. */
static int64_t after_link(const uint8_t *text, int64_t at, int64_t end)
{
    int64_t next = at;
    if (text[at] == '_') {
        while (next < end && text[next] == '_') next++;
    } else if (text[at] == ':' && end - at > 2 && text[at + 1] == '/' && text[at + 2] == '/') {
        next = at + 3;
    } else if (text[at] == ':' && end - at > 1 && text[at + 1] == ':') {
        next = at + 2;
    } else if (text[at] == ',' || text[at] == ';') {
        if (is_digit(text[at - 1]) && end - at > 1 && is_digit(text[at + 1])) next = at + 1;
    } else if (is_link(text[at])) {
        next = at + 1;
    }
    return next < end && is_word(text[next]) ? next : at;
}

static uint64_t hash_of(const uint8_t *word, int64_t size, uint64_t key)
{
    uint64_t hash = key ^ (uint64_t)size;
    while (size > 0) {
        uint64_t part = 0;
        memcpy(&part, word, size < 8 ? (size_t)size : 8);
        hash = (hash ^ part) * (key | 1);
        hash ^= hash >> 29;
        hash *= 0xbf58476d1ce4e5b9u;
        hash ^= hash >> 32;
        word += 8;
        size -= 8;
    }
    return hash;
}

static int grow(Numbers *n)
{
    int64_t room = n->room * 2;
    int32_t *slots = calloc((size_t)room, sizeof *slots);
    uint64_t *hashes = malloc((size_t)room * sizeof *hashes);
    if (slots == NULL || hashes == NULL) {
        free(slots);
        free(hashes);
        return -1;
    }
    for (int64_t i = 0; i < n->room; i++) {
        if (n->slots[i] == 0) continue;
        int64_t at = (int64_t)(n->hashes[i] & (uint64_t)(room - 1));
        while (slots[at] != 0) at = (at + 1) & (room - 1);
        slots[at] = n->slots[i];
        hashes[at] = n->hashes[i];
    }
    free(n->slots);
    free(n->hashes);
    n->slots = slots;
    n->hashes = hashes;
    n->room = room;
    return 0;
}

/* The number of a word, in the order of first appearance; -1 without memory. */
static int32_t number_of(Numbers *n, int64_t begin, int64_t size)
{
    if (2 * n->count >= n->room && grow(n) < 0) return -1;
    uint64_t hash = hash_of(n->text + begin, size, n->key);
    int64_t at = (int64_t)(hash & (uint64_t)(n->room - 1));
    while (n->slots[at] != 0) {
        int32_t known = n->slots[at] - 1;
        if (n->hashes[at] == hash && n->sizes[known] == size &&
            memcmp(n->text + n->starts[known], n->text + begin, (size_t)size) == 0)
            return known;
        at = (at + 1) & (n->room - 1);
    }
    n->slots[at] = (int32_t)n->count + 1;
    n->hashes[at] = hash;
    n->starts[n->count] = begin;
    n->sizes[n->count] = (int32_t)size;
    return (int32_t)n->count++;
}

/* The words of ASCII texts, which lie one behind the other and end at `ends`.
 *
 * Letters become small ones in place. A word is a run of letters and digits; with `linked`, runs
 * that a link joins are one word. `key` is drawn at random: nobody can choose words that collide.
 * Writes the number of every word, how many each text has, and where each distinct one stands;
 * returns how many distinct ones there are.
 */
API int64_t kernel_split(uint8_t *text, const int64_t *ends, int64_t texts, int64_t linked,
                         int64_t key, int32_t *numbers, int64_t *counts, int64_t *starts,
                         int32_t *sizes)
{
    Numbers n = {text, (uint64_t)key, starts, sizes, 0, NULL, NULL, 1024};
    n.slots = calloc((size_t)n.room, sizeof *n.slots);
    n.hashes = malloc((size_t)n.room * sizeof *n.hashes);
    int64_t done = n.slots == NULL || n.hashes == NULL ? -1 : 0;
    int64_t at = 0, written = 0;
    for (int64_t each = 0; each < texts && done == 0; each++) {
        int64_t end = ends[each], before = written;
        for (int64_t i = at; i < end; i++)
            if (text[i] >= 'A' && text[i] <= 'Z') text[i] = (uint8_t)(text[i] + 32);
        while (at < end) {
            if (!is_word(text[at])) {
                at++;
                continue;
            }
            int64_t begin = at;
            for (;;) {
                while (at < end && is_word(text[at])) at++;
                int64_t next = linked && at < end ? after_link(text, at, end) : at;
                if (next == at) break;
                at = next;
            }
            int32_t number = number_of(&n, begin, at - begin);
            if (number < 0) {
                done = -1;
                break;
            }
            numbers[written++] = number;
        }
        counts[each] = written - before;
    }
    free(n.slots);
    free(n.hashes);
    return done < 0 ? done : n.count;
}

/* The sum of row times scale over the tokens of each text. No product and no sum rounds: a scale has
 * 11 bits, an element 8, and a sum stays below 2^53 steps. */
CLONES API int64_t kernel_sums(const int8_t *rows, const float *scales, int64_t dimension,
                        const uint16_t *tokens, const int64_t *counts, int64_t texts, double *out)
{
    for (int64_t each = 0; each < texts; each++, out += dimension) {
        memset(out, 0, (size_t)dimension * sizeof *out);
        for (int64_t i = 0; i < counts[each]; i++, tokens++) {
            const int8_t *row = rows + (int64_t)*tokens * dimension;
            double scale = scales[*tokens];
            for (int64_t d = 0; d < dimension; d++) out[d] += scale * row[d];
        }
    }
    return 0;
}

enum { LANES = 8 };

/* Each row at unit length on the vector grid. Twin: `units` in rank/units.py, which has the reason why
 * the sums are exact in any order; `done` is 0 for a row for which it gives another one. */
CLONES API int64_t kernel_units(const double *matrix, int64_t rows, int64_t dimension, float *out,
                         uint8_t *done)
{
    const double fine = 17179869184.0, coarse = 67108864.0, step = 8388608.0; /* 2^34, 2^26, 2^23 */
    for (int64_t row = 0; row < rows; row++, matrix += dimension, out += dimension) {
        double largest = 0.0, upper[LANES] = {0.0}, lower[LANES] = {0.0}, off[LANES] = {0.0};
        int power = 0;
        for (int64_t d = 0; d < dimension; d++) largest = fabs(matrix[d]) > largest ? fabs(matrix[d]) : largest;
        frexp(largest, &power);
        double scale = ldexp(1.0, -power);
        done[row] = power > -900 && power < 900 && dimension % LANES == 0;
        if (!done[row]) continue;
        for (int64_t d = 0; d < dimension; d += LANES) {
            for (int k = 0; k < LANES; k++) {
                double wide = matrix[d + k] * scale, shifted = wide * fine, square = wide * wide;
                double above = rint(square * coarse) / coarse;
                upper[k] += above;
                lower[k] += square - above;
                off[k] += fabs(rint(shifted) - shifted);
            }
        }
        double high = 0.0, low = 0.0, inexact = 0.0;
        for (int k = 0; k < LANES; k++) {
            high += upper[k];
            low += lower[k];
            inexact += off[k];
        }
        done[row] = inexact == 0.0;
        double norm = largest == 0.0 ? 1.0 : sqrt(high + low);
        for (int64_t d = 0; d < dimension; d++)
            out[d] = (float)(rint(matrix[d] * scale / norm * step) / step);
    }
    return rows;
}
