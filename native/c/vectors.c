/* Scans of vectors. Both only propose: exact dot products decide afterwards. */
#include "kernel.h"

#include <math.h>
#ifdef CLONED
#include <immintrin.h>
#endif

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

/* Vectors as bytes: codes[i] = rint(v[i] / scale), scale = largest / 127; `rests` are upper bounds of
 * the lengths of what the codes leave out. */
CLONES API int64_t kernel_bytes(
    const float *matrix, int64_t vectors, int64_t dimension, int8_t *codes, float *scales,
    float *rests)
{
    for (int64_t n = 0; n < vectors; n++) {
        const float *v = matrix + n * dimension;
        int8_t *code = codes + n * dimension;
        float largest = 0.0f;
        for (int64_t i = 0; i < dimension; i++) largest = fabsf(v[i]) > largest ? fabsf(v[i]) : largest;
        float scale = largest / 127.0f, times = largest > 0.0f ? 127.0f / largest : 0.0f;
        double left = 0.0;
        for (int64_t i = 0; i < dimension; i++) {
            float nearest = rintf(v[i] * times);
            code[i] = (int8_t)nearest;
            double off = (double)v[i] - (double)nearest * (double)scale;
            left += off * off;
        }
        scales[n] = scale;
        /* A little more, for the rounding of the sum and of the square root, and to float. */
        rests[n] = (float)(sqrt(left) * (1.0 + 1e-6));
    }
    return 0;
}

/* A scan of vectors as bytes. With v = codes + e and q = steps + f, as real vectors, the estimate
 * codes · steps differs from v · q by e · q + codes · f, at most |e| |q| + (|v| + |e|) |f|. */
typedef struct {
    const int8_t *codes;
    const float *scales;
    const float *rests; /* |e| of each vector */
    int64_t vectors, dimension;
    const int16_t *query;
    double step, rest; /* of the query: its step, and |f| */
    float *low, *high; /* what v · q is at least and at most */
} Scan;

/* <code, query> for one vector; whole numbers, so the order of the sum does not matter. */
static inline __attribute__((always_inline)) int32_t byte_dot(
    const int8_t *code, const int16_t *query, int64_t from, int64_t dimension)
{
    int32_t sum = 0;
    for (int64_t i = from; i < dimension; i++) sum += (int32_t)code[i] * (int32_t)query[i];
    return sum;
}

static inline __attribute__((always_inline)) void bound(const Scan *scan, int64_t n, int32_t sum)
{
    double estimate = (double)scan->scales[n] * scan->step * (double)sum, rest = (double)scan->rests[n];
    /* Lengths are 1 up to the grid; the bounds are rounded to float. */
    double off = 1.001 * (rest + (1.0 + rest) * scan->rest) + 1e-6;
    scan->low[n] = (float)(estimate - off);
    scan->high[n] = (float)(estimate + off);
}

CLONES static void scan_plain(const Scan *scan)
{
    for (int64_t n = 0; n < scan->vectors; n++)
        bound(scan, n, byte_dot(scan->codes + n * scan->dimension, scan->query, 0, scan->dimension));
}

#ifdef CLONED
/* 32 products at a time; compilers multiply bytes by 16 bits as 32 bits each, at a third of the speed. */
__attribute__((target("avx512f,avx512bw"))) static void scan_wide(const Scan *scan)
{
    int64_t dimension = scan->dimension, whole = dimension & ~(int64_t)31;
    const int16_t *query = scan->query;
    for (int64_t n = 0; n < scan->vectors; n++) {
        const int8_t *code = scan->codes + n * dimension;
        __m512i sums = _mm512_setzero_si512();
        for (int64_t i = 0; i < whole; i += 32) {
            if (!(i & 63)) __builtin_prefetch(code + i + 4096);
            __m512i wide = _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(code + i)));
            sums = _mm512_add_epi32(sums, _mm512_madd_epi16(wide, _mm512_loadu_si512(query + i)));
        }
        bound(scan, n, _mm512_reduce_add_epi32(sums) + byte_dot(code, query, whole, dimension));
    }
}

__attribute__((target("avx2"))) static void scan_half(const Scan *scan)
{
    int64_t dimension = scan->dimension, whole = dimension & ~(int64_t)15;
    const int16_t *query = scan->query;
    for (int64_t n = 0; n < scan->vectors; n++) {
        const int8_t *code = scan->codes + n * dimension;
        __m256i sums = _mm256_setzero_si256();
        for (int64_t i = 0; i < whole; i += 16) {
            __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(code + i)));
            __m256i with = _mm256_loadu_si256((const __m256i *)(query + i));
            sums = _mm256_add_epi32(sums, _mm256_madd_epi16(wide, with));
        }
        int32_t lanes[8], sum = byte_dot(code, query, whole, dimension);
        _mm256_storeu_si256((__m256i *)lanes, sums);
        for (int j = 0; j < 8; j++) sum += lanes[j];
        bound(scan, n, sum);
    }
}
#endif

/* The vectors of a segment as bytes. */
typedef struct {
    const int8_t *codes;
    const float *scales, *rests;
    int64_t vectors;
} ByteVectors;

/* A query in whole steps, of which its largest element has LEVELS: sums of products with bytes stay below
 * 2^31. Returns the step; writes to `rest` an upper bound of the length of what the steps leave out. */
static double in_steps(const float *query, int64_t dimension, int16_t *steps, double *rest)
{
    enum { LEVELS = 2047 };
    double largest = 0.0, left = 0.0;
    for (int64_t i = 0; i < dimension; i++) {
        double size = fabs((double)query[i]);
        largest = size > largest ? size : largest;
    }
    double step = largest > 0.0 ? largest / LEVELS : 1.0;
    for (int64_t i = 0; i < dimension; i++) {
        steps[i] = (int16_t)rint((double)query[i] / step);
        double off = (double)query[i] - (double)steps[i] * step;
        left += off * off;
    }
    /* A little more, for the rounding of the sum. */
    *rest = 1.000001 * sqrt(left);
    return step;
}

/* Bounds of the cosines of all vectors with a query, one segment behind the other. `steps` is room for as
 * many numbers as the query has. */
API int64_t kernel_scan_bytes(
    const ByteVectors *segments, int64_t count, int64_t dimension, const float *query, int16_t *steps,
    float *low, float *high)
{
    double rest, step = in_steps(query, dimension, steps, &rest);
    for (int64_t s = 0; s < count; s++) {
        ByteVectors own = segments[s];
        Scan scan = {own.codes, own.scales, own.rests, own.vectors, dimension, steps, step, rest, low, high};
#ifdef CLONED
        if (__builtin_cpu_supports("avx512bw")) scan_wide(&scan);
        else if (__builtin_cpu_supports("avx2")) scan_half(&scan);
        else
#endif
            scan_plain(&scan);
        low += own.vectors;
        high += own.vectors;
    }
    return 0;
}

/* Some vectors of a segment. */
typedef struct {
    const float *matrix;
    const int64_t *at;
    int64_t count;
} Vectors;

/* The dot products of a query with some vectors, on the grid, one segment behind the other. Elements are
 * multiples of 2^-23, so the sums are exact in any order. Twin: exact_cosines in rank/grid.py. */
CLONES API int64_t kernel_dots(
    const Vectors *segments, int64_t count, int64_t dimension, const double *query, double *out)
{
    for (int64_t s = 0; s < count; s++) {
        const float *matrix = segments[s].matrix;
        const int64_t *at = segments[s].at;
        int64_t size = segments[s].count;
        for (int64_t n = 0; n < size; n++) {
            const float *v = matrix + at[n] * dimension;
            if (n + 2 < size)
                for (int64_t i = 0; i < dimension; i += 16)
                    __builtin_prefetch(matrix + at[n + 2] * dimension + i);
            double sums[8] = {0};
            int64_t i = 0;
            for (; i + 8 <= dimension; i += 8)
                for (int j = 0; j < 8; j++) sums[j] += (double)v[i + j] * query[i + j];
            for (; i < dimension; i++) sums[0] += (double)v[i] * query[i];
            double sum = 0.0;
            for (int j = 0; j < 8; j++) sum += sums[j];
            *out++ = rint(sum * GRID) * STEP;
        }
    }
    return 0;
}
