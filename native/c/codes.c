/* The scan of vectors by codes; it only proposes: exact dot products decide afterwards. */
#include "kernel.h"

/* Rough distances by codes: Hamming distance to both planes, the first twice. `signs` is laid out as
 * (words, vectors). Twin: Probe.rough in rank/codes.py. */
static inline __attribute__((always_inline)) void rough(
    const uint64_t *restrict signs, int64_t words, int64_t vectors, int64_t stride,
    const uint64_t *restrict planes, uint16_t *restrict out)
{
    enum { SOME = 2048, LINE = 8 };
    uint64_t sums[SOME];
    for (int64_t start = 0; start < vectors; start += SOME) {
        int64_t size = vectors - start < SOME ? vectors - start : SOME;
        for (int64_t i = 0; i < size; i++) sums[i] = 0;
        for (int64_t w = 0; w < words; w++) {
            const uint64_t *row = signs + w * stride + start;
            /* What is read next is elsewhere, which the machine cannot guess. */
            const uint64_t *next = w + 1 < words ? row + stride : signs + start + SOME;
            int64_t left = w + 1 < words ? size : vectors - start - SOME;
            uint64_t one = planes[w], two = planes[words + w];
            for (int64_t from = 0; from < size; from += 8 * LINE) {
                int64_t to = size - from < 8 * LINE ? size : from + 8 * LINE;
                for (int64_t i = from; i < to && i < left; i += LINE) __builtin_prefetch(next + i);
                for (int64_t i = from; i < to; i++)
                    sums[i] += 2 * (uint64_t)__builtin_popcountll(row[i] ^ one)
                               + (uint64_t)__builtin_popcountll(row[i] ^ two);
            }
        }
        for (int64_t i = 0; i < size; i++) out[start + i] = (uint16_t)sums[i];
    }
}

#define ROUGH(name, how)                                                                          \
    how static void name(const uint64_t *signs, int64_t words, int64_t vectors, int64_t stride,   \
                         const uint64_t *planes, uint16_t *out)                                   \
    {                                                                                             \
        rough(signs, words, vectors, stride, planes, out);                                        \
    }

ROUGH(rough_plain, )
#ifdef CLONED
ROUGH(rough_counting, __attribute__((target("popcnt"))))
ROUGH(rough_wide, __attribute__((target("avx512f,avx512vl,avx512bw,avx512vpopcntdq"))))
#endif

API int64_t kernel_rough(
    const uint64_t *signs, int64_t words, int64_t vectors, int64_t stride, const uint64_t *planes,
    uint16_t *out)
{
#ifdef CLONED
    if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vl"))
        rough_wide(signs, words, vectors, stride, planes, out);
    else if (__builtin_cpu_supports("popcnt"))
        rough_counting(signs, words, vectors, stride, planes, out);
    else
#endif
        rough_plain(signs, words, vectors, stride, planes, out);
    return 0;
}

/* The vectors of a segment by the codes of their steps, laid out as (vectors, words). */
typedef struct {
    const uint64_t *steps;
    int64_t vectors;
} Coded;

enum { RUN = 32, AHEAD = 16 };

static inline __attribute__((always_inline)) uint16_t least(const uint16_t *values)
{
    uint16_t out = values[0];
    for (int i = 1; i < RUN; i++) out = values[i] < out ? values[i] : out;
    return out;
}

/* Writes to `at` the vectors within a rough distance, numbered over all segments, and to `fine` their
 * fine distances: twice the rough one, and that of the steps. Twin: _within in
 * lanes/nearest.py. */
CLONES API int64_t kernel_within(
    const Coded *segments, int64_t count, int64_t words, const uint64_t *planes, const uint16_t *distances,
    int64_t most, int64_t *at, uint16_t *fine)
{
    int64_t found = 0, start = 0;
    for (int64_t s = 0; s < count; s++) {
        int64_t first = found, end = start + segments[s].vectors;
        for (int64_t from = start; from < end; from += RUN) {
            int64_t to = end - from < RUN ? end : from + RUN;
            if (to - from == RUN && least(distances + from) > most) continue;
            for (int64_t i = from; i < to; i++) {
                at[found] = i;
                found += distances[i] <= most;
            }
        }
        const uint64_t *steps = segments[s].steps;
        for (int64_t n = first; n < found; n++) {
            if (n + AHEAD < found) __builtin_prefetch(steps + (at[n + AHEAD] - start) * words);
            const uint64_t *own = steps + (at[n] - start) * words;
            uint64_t sum = 0;
            for (int64_t w = 0; w < words; w++)
                sum += 2 * (uint64_t)__builtin_popcountll(own[w] ^ planes[w])
                       + (uint64_t)__builtin_popcountll(own[w] ^ planes[words + w]);
            fine[n] = (uint16_t)(2 * (uint64_t)distances[at[n]] + sum);
        }
        start = end;
    }
    return found;
}
