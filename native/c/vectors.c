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
    enum { SOME = 2048 };
    uint64_t sums[SOME];
    for (int64_t start = 0; start < vectors; start += SOME) {
        int64_t size = vectors - start < SOME ? vectors - start : SOME;
        for (int64_t i = 0; i < size; i++) sums[i] = 0;
        for (int64_t w = 0; w < words; w++) {
            const uint64_t *row = signs + w * stride + start;
            uint64_t one = planes[w], two = planes[words + w];
            for (int64_t i = 0; i < size; i++)
                sums[i] += 2 * (uint64_t)__builtin_popcountll(row[i] ^ one)
                           + (uint64_t)__builtin_popcountll(row[i] ^ two);
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

/* Vectors as bytes: codes[i] = rint(v[i] / scale), scale = largest / 127; `rest` is an upper bound of
 * the length of what the codes leave out. */
CLONES API int64_t kernel_bytes(
    const float *matrix, int64_t vectors, int64_t dimension, int8_t *codes, float *scales,
    double *rest)
{
    double farthest = 0.0;
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
        farthest = left > farthest ? left : farthest;
    }
    /* A little more, for the rounding of the sum and of the square root. */
    *rest = sqrt(farthest) * (1.0 + 1e-9);
    return 0;
}

/* <code, query> for one vector; whole numbers, so the order of the sum does not matter. */
static inline __attribute__((always_inline)) int32_t byte_dot(
    const int8_t *code, const int16_t *query, int64_t from, int64_t dimension)
{
    int32_t sum = 0;
    for (int64_t i = from; i < dimension; i++) sum += (int32_t)code[i] * (int32_t)query[i];
    return sum;
}

CLONES static void scan_plain(
    const int8_t *codes, const float *scales, int64_t vectors, int64_t dimension,
    const int16_t *query, double step, float *out)
{
    for (int64_t n = 0; n < vectors; n++) {
        int32_t sum = byte_dot(codes + n * dimension, query, 0, dimension);
        out[n] = (float)((double)scales[n] * step * (double)sum);
    }
}

#ifdef CLONED
/* 32 products at a time; compilers multiply bytes by 16 bits as 32 bits each, at a third of the speed. */
__attribute__((target("avx512f,avx512bw"))) static void scan_wide(
    const int8_t *codes, const float *scales, int64_t vectors, int64_t dimension,
    const int16_t *query, double step, float *out)
{
    int64_t whole = dimension & ~(int64_t)31;
    for (int64_t n = 0; n < vectors; n++) {
        const int8_t *code = codes + n * dimension;
        __m512i sums = _mm512_setzero_si512();
        for (int64_t i = 0; i < whole; i += 32) {
            if (!(i & 63)) __builtin_prefetch(code + i + 4096);
            __m512i wide = _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(code + i)));
            sums = _mm512_add_epi32(sums, _mm512_madd_epi16(wide, _mm512_loadu_si512(query + i)));
        }
        int32_t sum = _mm512_reduce_add_epi32(sums) + byte_dot(code, query, whole, dimension);
        out[n] = (float)((double)scales[n] * step * (double)sum);
    }
}

__attribute__((target("avx2"))) static void scan_half(
    const int8_t *codes, const float *scales, int64_t vectors, int64_t dimension,
    const int16_t *query, double step, float *out)
{
    int64_t whole = dimension & ~(int64_t)15;
    for (int64_t n = 0; n < vectors; n++) {
        const int8_t *code = codes + n * dimension;
        __m256i sums = _mm256_setzero_si256();
        for (int64_t i = 0; i < whole; i += 16) {
            __m256i wide = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(code + i)));
            __m256i with = _mm256_loadu_si256((const __m256i *)(query + i));
            sums = _mm256_add_epi32(sums, _mm256_madd_epi16(wide, with));
        }
        int32_t lanes[8], sum = byte_dot(code, query, whole, dimension);
        _mm256_storeu_si256((__m256i *)lanes, sums);
        for (int j = 0; j < 8; j++) sum += lanes[j];
        out[n] = (float)((double)scales[n] * step * (double)sum);
    }
}
#endif

/* out[n] = scale[n] * step * <codes[n], query>, an estimate of the cosine. */
API int64_t kernel_scan_bytes(
    const int8_t *codes, const float *scales, int64_t vectors, int64_t dimension,
    const int16_t *query, double step, float *out)
{
#ifdef CLONED
    if (__builtin_cpu_supports("avx512bw"))
        scan_wide(codes, scales, vectors, dimension, query, step, out);
    else if (__builtin_cpu_supports("avx2"))
        scan_half(codes, scales, vectors, dimension, query, step, out);
    else
#endif
        scan_plain(codes, scales, vectors, dimension, query, step, out);
    return 0;
}

/* out[i] = the dot product with vector at[i], on the grid. Elements are multiples of 2^-23, so the
 * sums are exact in any order. Twin: exact_cosines in rank/grid.py. */
CLONES API int64_t kernel_dots(
    const float *matrix, int64_t dimension, const int64_t *at, int64_t count, const double *query,
    double *out)
{
    for (int64_t n = 0; n < count; n++) {
        const float *v = matrix + at[n] * dimension;
        double sums[8] = {0};
        int64_t i = 0;
        for (; i + 8 <= dimension; i += 8)
            for (int j = 0; j < 8; j++) sums[j] += (double)v[i + j] * query[i + j];
        for (; i < dimension; i++) sums[0] += (double)v[i] * query[i];
        double sum = 0.0;
        for (int j = 0; j < 8; j++) sum += sums[j];
        out[n] = rint(sum * GRID) * STEP;
    }
    return 0;
}
