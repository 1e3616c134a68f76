/* The packaged transformer; its twin is embed/transformer.py, which has the reasons.
 *
 * Every sum is one of whole numbers below 2^24 (2^53 where doubles are added), so its order does not
 * matter. What is left follows the twin operation by operation. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef CLONED
#include <immintrin.h>
#endif

enum {
    WIDTH = 384,
    HEADS = 12,
    EACH = WIDTH / HEADS,
    INNER = 1536,
    LONGEST = 256, /* tokens of a text */
    TOGETHER = 64, /* tokens of several texts that are computed together */
    LANES = 16     /* outputs that a packed matrix has side by side, two inputs at a time */
};
#define FINE 16384.0
#define TOP 2097152.0
#define TINY (1e-12 * FINE * FINE)
#define HEAD_LEVELS 511.0f
#define SHARES 16384.0f
#define EXP_STEPS 512.0f
#define PHI_STEPS 256.0f
#define PHI_END 6.0f

typedef struct {
    const float *exponentials;
    int64_t exponents;
    const float *normal_shares;
} Tables;

/* A matrix: packed weights, and what its products are scaled by. */
typedef struct {
    const int8_t *weights;
    float levels;
    const float *scales, *bias;
    int64_t outputs, inputs;
} Matrix;

/* What the tokens of some texts need; each array has room for the tokens of the largest block. */
typedef struct {
    float *x, *wide, *inner, *seen, *steps;
    int16_t *whole;
    float *keys, *shares; /* of one head: keys by dimension, shares of one token */
} Room;

static inline __attribute__((always_inline)) float step_of(float largest, float levels)
{
    return largest > 0.0f ? largest / levels : 1.0f;
}

CLONES static void in_steps(const float *x, int64_t count, float levels, float *step, int16_t *whole)
{
    float largest = 0.0f;
    for (int64_t i = 0; i < count; i++) largest = fabsf(x[i]) > largest ? fabsf(x[i]) : largest;
    *step = step_of(largest, levels);
    for (int64_t i = 0; i < count; i++) whole[i] = (int16_t)rintf(x[i] / *step);
}

/* -- products: sums[t][lane] for `tokens` rows of `whole` and 16 outputs ------------------------------ */

typedef void Tile(const int8_t *weights, int64_t inputs, const int16_t *whole, int64_t tokens, int32_t *sums);

CLONES static void tile_plain(
    const int8_t *weights, int64_t inputs, const int16_t *whole, int64_t tokens, int32_t *sums)
{
    for (int64_t t = 0; t < tokens; t++) {
        int32_t own[LANES] = {0};
        const int16_t *row = whole + t * inputs;
        const int8_t *w = weights;
        for (int64_t i = 0; i < inputs; i += 2, w += 2 * LANES)
            for (int lane = 0; lane < LANES; lane++)
                own[lane] += (int32_t)w[2 * lane] * row[i] + (int32_t)w[2 * lane + 1] * row[i + 1];
        memcpy(sums + t * LANES, own, sizeof own);
    }
}

#ifdef CLONED
static inline __attribute__((always_inline)) int32_t pair_of(const int16_t *at)
{
    int32_t both;
    memcpy(&both, at, sizeof both);
    return both;
}

#define WIDE_ROWS(COUNT)                                                                                   \
    for (; t + COUNT <= tokens; t += COUNT) {                                                              \
        __m512i own[COUNT];                                                                                \
        const int16_t *row = whole + t * inputs;                                                           \
        _Pragma("GCC unroll 16") for (int n = 0; n < COUNT; n++) own[n] = _mm512_setzero_si512();          \
        for (int64_t i = 0; i < inputs; i += 2) {                                                          \
            __m512i w = _mm512_cvtepi8_epi16(_mm256_loadu_si256((const __m256i *)(weights + i * LANES)));  \
            _Pragma("GCC unroll 16") for (int n = 0; n < COUNT; n++) own[n] =                              \
                _mm512_dpwssd_epi32(own[n], w, _mm512_set1_epi32(pair_of(row + n * inputs + i)));          \
        }                                                                                                  \
        _Pragma("GCC unroll 16") for (int n = 0; n < COUNT; n++)                                           \
            _mm512_storeu_si512(sums + (t + n) * LANES, own[n]);                                           \
    }

__attribute__((target("avx512f,avx512bw,avx512vnni"))) static void tile_wide(
    const int8_t *weights, int64_t inputs, const int16_t *whole, int64_t tokens, int32_t *sums)
{
    int64_t t = 0;
    WIDE_ROWS(16)
    WIDE_ROWS(8)
    WIDE_ROWS(4)
    WIDE_ROWS(2)
    WIDE_ROWS(1)
}

#define HALF_ROWS(COUNT)                                                                                   \
    for (; t + COUNT <= tokens; t += COUNT) {                                                              \
        __m256i low[COUNT], high[COUNT];                                                                   \
        const int16_t *row = whole + t * inputs;                                                           \
        _Pragma("GCC unroll 4") for (int n = 0; n < COUNT; n++) low[n] = high[n] = _mm256_setzero_si256(); \
        for (int64_t i = 0; i < inputs; i += 2) {                                                          \
            const __m128i *w = (const __m128i *)(weights + i * LANES);                                     \
            __m256i one = _mm256_cvtepi8_epi16(_mm_loadu_si128(w));                                        \
            __m256i two = _mm256_cvtepi8_epi16(_mm_loadu_si128(w + 1));                                    \
            _Pragma("GCC unroll 4") for (int n = 0; n < COUNT; n++) {                                      \
                __m256i with = _mm256_set1_epi32(pair_of(row + n * inputs + i));                           \
                low[n] = _mm256_add_epi32(low[n], _mm256_madd_epi16(one, with));                           \
                high[n] = _mm256_add_epi32(high[n], _mm256_madd_epi16(two, with));                         \
            }                                                                                              \
        }                                                                                                  \
        _Pragma("GCC unroll 4") for (int n = 0; n < COUNT; n++) {                                          \
            _mm256_storeu_si256((__m256i *)(sums + (t + n) * LANES), low[n]);                              \
            _mm256_storeu_si256((__m256i *)(sums + (t + n) * LANES + 8), high[n]);                         \
        }                                                                                                  \
    }

__attribute__((target("avx2"))) static void tile_half(
    const int8_t *weights, int64_t inputs, const int16_t *whole, int64_t tokens, int32_t *sums)
{
    int64_t t = 0;
    HALF_ROWS(4)
    HALF_ROWS(1)
}
#endif

static Tile *best_tile(void)
{
#ifdef TILE /* the tests try each of them, whatever the machine has */
    return TILE;
#elif defined(CLONED)
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni")) return tile_wide;
    if (__builtin_cpu_supports("avx2")) return tile_half;
    return tile_plain;
#else
    return tile_plain;
#endif
}

CLONES static void scaled(
    const int32_t *sums, int64_t tokens, const float *steps, const Matrix *m, int64_t first, float *out)
{
    for (int64_t t = 0; t < tokens; t++)
        for (int lane = 0; lane < LANES; lane++) {
            float value = (float)sums[t * LANES + lane] * steps[t];
            out[t * m->outputs + first + lane] = value * m->scales[first + lane] + m->bias[first + lane];
        }
}

static void linear(const float *x, int64_t tokens, const Matrix *m, const Room *room, float *out)
{
    int32_t sums[LONGEST * LANES];
    for (int64_t t = 0; t < tokens; t++)
        in_steps(x + t * m->inputs, m->inputs, m->levels, room->steps + t, room->whole + t * m->inputs);
    Tile *tile = best_tile();
    for (int64_t first = 0; first < m->outputs; first += LANES) {
        tile(m->weights + first * m->inputs, m->inputs, room->whole, tokens, sums);
        scaled(sums, tokens, room->steps, m, first, out);
    }
}

/* -- single numbers ----------------------------------------------------------------------------------- */

static inline __attribute__((always_inline)) double fine(float x)
{
    double wide = rint((double)x * FINE);
    return wide < -TOP ? -TOP : wide > TOP ? TOP : wide;
}

CLONES static void normed(float *x, int64_t tokens, const float *weight, const float *bias)
{
    for (int64_t t = 0; t < tokens; t++, x += WIDTH) {
        int64_t sum = 0, squares = 0;
        for (int i = 0; i < WIDTH; i++) {
            int64_t whole = (int64_t)fine(x[i]);
            sum += whole;
            squares += whole * whole;
        }
        double mean = (double)sum / WIDTH, variance = (double)squares / WIDTH - mean * mean;
        double factor = 1.0 / sqrt(variance + TINY);
        for (int i = 0; i < WIDTH; i++) {
            float value = (float)((fine(x[i]) - mean) * factor);
            x[i] = value * weight[i] + bias[i];
        }
    }
}

CLONES static void gelu(float *x, int64_t count, const float *shares)
{
    for (int64_t i = 0; i < count; i++) {
        float at = x[i] < -PHI_END ? -PHI_END : x[i] > PHI_END ? PHI_END : x[i];
        x[i] *= shares[(int32_t)rintf(at * PHI_STEPS) + (int32_t)(PHI_END * PHI_STEPS)];
    }
}

CLONES static void added(float *x, const float *more, int64_t count)
{
    for (int64_t i = 0; i < count; i++) x[i] += more[i];
}

/* What each token of a text takes of the others: one head, whose queries begin at `qkv`. */
CLONES static void head(
    const float *qkv, int64_t tokens, const Tables *tables, const Room *room, float *out)
{
    const float *key = qkv + WIDTH, *value = qkv + 2 * WIDTH;
    float *keys = room->keys, *values = keys + EACH * tokens, *scores = room->shares;
    float steps[LONGEST], columns[EACH];
    for (int64_t j = 0; j < tokens; j++) {
        int16_t whole[EACH];
        in_steps(key + j * 3 * WIDTH, EACH, HEAD_LEVELS, steps + j, whole);
        steps[j] *= (float)0.17677669529663687;
        for (int d = 0; d < EACH; d++) keys[d * tokens + j] = whole[d];
    }
    for (int d = 0; d < EACH; d++) columns[d] = 0.0f;
    for (int64_t j = 0; j < tokens; j++)
        for (int d = 0; d < EACH; d++) {
            float size = fabsf(value[j * 3 * WIDTH + d]);
            columns[d] = size > columns[d] ? size : columns[d];
        }
    for (int d = 0; d < EACH; d++) columns[d] = step_of(columns[d], HEAD_LEVELS);
    for (int64_t j = 0; j < tokens; j++)
        for (int d = 0; d < EACH; d++) values[j * EACH + d] = rintf(value[j * 3 * WIDTH + d] / columns[d]);
    for (int64_t i = 0; i < tokens; i++) {
        int16_t query[EACH];
        float step, largest = -INFINITY, total = 0.0f, sums[EACH] = {0};
        in_steps(qkv + i * 3 * WIDTH, EACH, HEAD_LEVELS, &step, query);
        for (int64_t j = 0; j < tokens; j++) scores[j] = 0.0f;
        for (int d = 0; d < EACH; d++) {
            float q = query[d];
            const float *row = keys + d * tokens;
            for (int64_t j = 0; j < tokens; j++) scores[j] += q * row[j];
        }
        for (int64_t j = 0; j < tokens; j++) {
            scores[j] = scores[j] * step * steps[j];
            largest = scores[j] > largest ? scores[j] : largest;
        }
        for (int64_t j = 0; j < tokens; j++) {
            float below = rintf((largest - scores[j]) * EXP_STEPS), last = (float)(tables->exponents - 1);
            scores[j] = tables->exponentials[(int32_t)(below < last ? below : last)];
        }
        for (int64_t j = 0; j < tokens; j++) total += scores[j];
        float factor = SHARES / total;
        for (int64_t j = 0; j < tokens; j++) {
            float share = rintf(scores[j] * factor);
            for (int d = 0; d < EACH; d++) sums[d] += share * values[j * EACH + d];
        }
        for (int d = 0; d < EACH; d++) out[i * WIDTH + d] = sums[d] * (columns[d] / SHARES);
    }
}

CLONES static void pooled(const float *x, int64_t tokens, int8_t *out)
{
    double sums[WIDTH] = {0}, largest = 0.0;
    for (int64_t t = 0; t < tokens; t++)
        for (int i = 0; i < WIDTH; i++) sums[i] += fine(x[t * WIDTH + i]);
    for (int i = 0; i < WIDTH; i++) largest = fabs(sums[i]) > largest ? fabs(sums[i]) : largest;
    double step = largest > 0.0 ? largest / 127.0 : 1.0;
    for (int i = 0; i < WIDTH; i++) out[i] = (int8_t)rint(sums[i] / step);
}

/* -- the whole ---------------------------------------------------------------------------------------- */

/* The next matrix of a layer; moves both pointers behind it. */
static Matrix matrix(const int8_t **weights, const float **numbers, int64_t outputs, int64_t inputs)
{
    const float *at = *numbers;
    Matrix made = {*weights, at[0], at + 1, at + 1 + outputs, outputs, inputs};
    *weights += outputs * inputs;
    *numbers += 1 + 2 * outputs;
    return made;
}

static const float *norm(float *x, int64_t tokens, const float *numbers)
{
    normed(x, tokens, numbers, numbers + WIDTH);
    return numbers + 2 * WIDTH;
}

static void layers_of(
    const int8_t *weights, const float *numbers, int64_t layers, const int64_t *sizes, int64_t texts,
    int64_t tokens, const Tables *tables, const Room *room)
{
    for (int64_t layer = 0; layer < layers; layer++) {
        Matrix qkv = matrix(&weights, &numbers, 3 * WIDTH, WIDTH);
        linear(room->x, tokens, &qkv, room, room->wide);
        int64_t at = 0;
        for (int64_t n = 0; n < texts; at += sizes[n++])
            for (int each = 0; each < HEADS; each++)
                head(room->wide + at * 3 * WIDTH + each * EACH, sizes[n], tables, room,
                     room->seen + at * WIDTH + each * EACH);
        Matrix out = matrix(&weights, &numbers, WIDTH, WIDTH);
        linear(room->seen, tokens, &out, room, room->wide);
        added(room->x, room->wide, tokens * WIDTH);
        numbers = norm(room->x, tokens, numbers);
        Matrix up = matrix(&weights, &numbers, INNER, WIDTH);
        linear(room->x, tokens, &up, room, room->inner);
        gelu(room->inner, tokens * INNER, tables->normal_shares);
        Matrix down = matrix(&weights, &numbers, WIDTH, INNER);
        linear(room->inner, tokens, &down, room, room->wide);
        added(room->x, room->wide, tokens * WIDTH);
        numbers = norm(room->x, tokens, numbers);
    }
}

/* The vectors, in bytes, of `texts` texts of `sizes[n]` tokens each. */
API int64_t kernel_transform(
    const int8_t *words, int64_t entries, const int8_t *weights, int64_t layers, const float *numbers,
    const float *exponentials, int64_t exponents, const float *normal_shares, const int64_t *tokens,
    const int64_t *sizes, int64_t texts, int8_t *out)
{
    const Tables tables = {exponentials, exponents, normal_shares};
    const float *places = numbers + entries, *first = places + LONGEST * WIDTH;
    int64_t most = LONGEST;
    size_t floats = (size_t)most * (WIDTH + 3 * WIDTH + INNER + WIDTH + 1) + (2 * EACH + 1) * LONGEST;
    float *held = malloc(floats * sizeof(float) + (size_t)most * INNER * sizeof(int16_t));
    if (!held) return -1;
    Room room;
    room.x = held;
    room.wide = room.x + most * WIDTH;
    room.inner = room.wide + most * 3 * WIDTH;
    room.seen = room.inner + most * INNER;
    room.steps = room.seen + most * WIDTH;
    room.keys = room.steps + most;
    room.shares = room.keys + 2 * EACH * LONGEST;
    room.whole = (int16_t *)(room.shares + LONGEST);
    for (int64_t begin = 0; begin < texts;) {
        int64_t end = begin, count = 0;
        do count += sizes[end++];
        while (end < texts && count + sizes[end] <= TOGETHER);
        float *x = room.x;
        for (int64_t n = begin; n < end; n++)
            for (int64_t place = 0; place < sizes[n]; place++, x += WIDTH, tokens++)
                for (int i = 0; i < WIDTH; i++)
                    x[i] = (float)words[*tokens * WIDTH + i] * numbers[*tokens] + places[place * WIDTH + i];
        layers_of(weights, norm(room.x, count, first), layers, sizes + begin, end - begin, count, &tables, &room);
        for (int64_t n = begin, at = 0; n < end; at += sizes[n++])
            pooled(room.x + at * WIDTH, sizes[n], out + n * WIDTH);
        begin = end;
    }
    free(held);
    return 0;
}
