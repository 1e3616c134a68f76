/* The exact scan: vectors as bytes give bounds, exact dot products decide. */
#include "kernel.h"

#include <math.h>
#include <stdlib.h>
#ifdef CLONED
#include <immintrin.h>
#endif

#define UNIT 8388608.0 /* steps of an element of a unit vector in 1 */

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

/* Vectors of a segment as bytes, and <code, query> of each: whole numbers, so the order of a sum does not
 * matter. */
static inline __attribute__((always_inline)) int32_t byte_dot(
    const int8_t *code, const int16_t *query, int64_t from, int64_t dimension)
{
    int32_t sum = 0;
    for (int64_t i = from; i < dimension; i++) sum += (int32_t)code[i] * (int32_t)query[i];
    return sum;
}

CLONES static void sums_plain(
    const int8_t *codes, int64_t vectors, int64_t dimension, const int16_t *query, int32_t *out)
{
    for (int64_t n = 0; n < vectors; n++) out[n] = byte_dot(codes + n * dimension, query, 0, dimension);
}

#ifdef CLONED
/* 32 products at a time; compilers multiply bytes by 16 bits as 32 bits each, at a third of the speed. */
__attribute__((target("avx512f,avx512bw"))) static void sums_wide(
    const int8_t *codes, int64_t vectors, int64_t dimension, const int16_t *query, int32_t *out)
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
        out[n] = _mm512_reduce_add_epi32(sums) + byte_dot(code, query, whole, dimension);
    }
}

__attribute__((target("avx2"))) static void sums_half(
    const int8_t *codes, int64_t vectors, int64_t dimension, const int16_t *query, int32_t *out)
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
        out[n] = sum;
    }
}
#endif

static void byte_dots(
    const int8_t *codes, int64_t vectors, int64_t dimension, const int16_t *query, int32_t *out)
{
#ifdef CLONED
    if (__builtin_cpu_supports("avx512bw")) sums_wide(codes, vectors, dimension, query, out);
    else if (__builtin_cpu_supports("avx2")) sums_half(codes, vectors, dimension, query, out);
    else
#endif
        sums_plain(codes, vectors, dimension, query, out);
}

/* The vectors of a segment as bytes. */
typedef struct {
    const int8_t *codes;
    const float *scales, *rests;
    int64_t vectors;
} ByteVectors;

/* A query in whole steps, of which its largest element has LEVELS: sums of products with bytes stay below
 * 2^31. */
typedef struct {
    int16_t *steps;
    double step;
    double rest; /* an upper bound of the length of what the steps leave out */
} Stepped;

static Stepped in_steps(const float *query, int64_t dimension, int16_t *steps)
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
    return (Stepped){steps, step, 1.000001 * sqrt(left)};
}

enum { SOME = 1024 }; /* vectors that are compared at a time */

/* What the dot products of SOME vectors at most, from `start` on, are at least and at most. With
 * v = codes + e and q = steps + f, as real vectors, the estimate codes · steps differs from v · q by
 * e · q + codes · f, at most |e| |q| + (|v| + |e|) |f|. */
CLONES static void bounds(
    const ByteVectors *in, int64_t start, int64_t size, int64_t dimension, const Stepped *query,
    float *restrict low, float *restrict high)
{
    int32_t sums[SOME];
    byte_dots(in->codes + start * dimension, size, dimension, query->steps, sums);
    const float *scales = in->scales + start, *rests = in->rests + start;
    for (int64_t n = 0; n < size; n++) {
        double estimate = (double)scales[n] * query->step * (double)sums[n], rest = (double)rests[n];
        /* Lengths are 1 up to the grid; the bounds are rounded to float. */
        double off = 1.001 * (rest + (1.0 + rest) * query->rest) + 1e-6;
        low[n] = (float)(estimate - off);
        high[n] = (float)(estimate + off);
    }
}

/* Bounds of the cosines of all vectors with a query, one segment behind the other. `steps` is room for as
 * many numbers as the query has. */
API int64_t kernel_scan_bytes(
    const ByteVectors *segments, int64_t count, int64_t dimension, const float *query, int16_t *steps,
    float *low, float *high)
{
    Stepped stepped = in_steps(query, dimension, steps);
    for (int64_t s = 0; s < count; s++) {
        const ByteVectors *own = segments + s;
        for (int64_t start = 0; start < own->vectors; start += SOME) {
            int64_t size = own->vectors - start < SOME ? own->vectors - start : SOME;
            bounds(own, start, size, dimension, &stepped, low, high);
            low += size;
            high += size;
        }
    }
    return 0;
}

/* The vectors of a segment, in one byte a number if `in_bytes`: see `byte_dot_exact`. */
typedef struct {
    const void *elements;
    int64_t in_bytes;
} Matrix;

/* Some of them. */
typedef struct {
    Matrix matrix;
    const int64_t *at;
    int64_t count;
} Vectors;

/* The dot product of a query with a vector, on the grid. Elements are multiples of 2^-23, so the sum is
 * exact in any order. Twin: exact_cosines in rank/grid.py. */
static inline __attribute__((always_inline)) double dot(const float *v, const double *query, int64_t dimension)
{
    double sums[8] = {0}, sum = 0.0;
    int64_t i = 0;
    for (; i + 8 <= dimension; i += 8)
        for (int j = 0; j < 8; j++) sums[j] += (double)v[i + j] * query[i + j];
    for (; i < dimension; i++) sums[0] += (double)v[i] * query[i];
    for (int j = 0; j < 8; j++) sum += sums[j];
    return rint(sum * GRID) * STEP;
}

/* The same for a vector in bytes: its elements are the bytes divided by their length, on the grid of elements; here
 * they are whole multiples of its step. Multiplying by the inverse of the length is off by less than 2^-28 steps, so
 * the quotient is only needed where that could change the rounding. Twin: widened in rank/units.py. */
static inline __attribute__((always_inline)) double byte_dot_exact(
    const int8_t *code, const double *query, int64_t dimension)
{
    enum { PART = 64 };
    int32_t squares = 0;
    for (int64_t i = 0; i < dimension; i++) squares += (int32_t)code[i] * (int32_t)code[i];
    double length = squares ? sqrt((double)squares) : 1.0, times = UNIT / length, sums[8] = {0}, sum = 0.0;
    int64_t begin = 0, unsure = 0;
    for (; begin + PART <= dimension; begin += PART) {
        double elements[PART];
        for (int64_t i = 0; i < PART; i++) {
            double steps = (double)code[begin + i] * times;
            elements[i] = rint(steps);
            unsure |= fabs(steps - elements[i]) > 0.5 - 0x1p-27;
        }
        for (int64_t i = 0; i < PART; i += 8)
            for (int j = 0; j < 8; j++) sums[j] += elements[i + j] * query[begin + i + j];
    }
    for (int j = 0; j < 8; j++) sum += sums[j];
    if (unsure) begin = 0, sum = 0.0;
    for (int64_t i = begin; i < dimension; i++) sum += rint((double)code[i] / length * UNIT) * query[i];
    return rint(sum / UNIT * GRID) * STEP;
}

/* The dot products of a query with some vectors of a matrix. */
CLONES static void dots(
    const Matrix *matrix, const int64_t *at, int64_t count, int64_t dimension, const double *query,
    double *out)
{
    const float *floats = matrix->elements;
    const int8_t *codes = matrix->elements;
    for (int64_t n = 0; n < count; n++) {
        int64_t ahead = n + 2 < count ? at[n + 2] * dimension : -1;
        if (matrix->in_bytes) {
            for (int64_t i = 0; i < dimension && ahead >= 0; i += 64) __builtin_prefetch(codes + ahead + i);
            out[n] = byte_dot_exact(codes + at[n] * dimension, query, dimension);
        } else {
            for (int64_t i = 0; i < dimension && ahead >= 0; i += 16) __builtin_prefetch(floats + ahead + i);
            out[n] = dot(floats + at[n] * dimension, query, dimension);
        }
    }
}

/* The same for several segments, one behind the other. */
API int64_t kernel_dots(
    const Vectors *segments, int64_t count, int64_t dimension, const double *query, double *out)
{
    for (int64_t s = 0; s < count; s++) {
        dots(&segments[s].matrix, segments[s].at, segments[s].count, dimension, query, out);
        out += segments[s].count;
    }
    return 0;
}

/* A segment in a search for the nearest vectors; each row has one. */
typedef struct {
    ByteVectors bytes;
    Matrix matrix;
    const int64_t *numbers; /* of the rows */
    const uint8_t *mask;    /* the rows that may be found */
} NearestPart;

typedef struct {
    const NearestPart *parts;
    int64_t count, dimension;
    const float *query;
    int64_t pool;
    double floor;    /* the cosine that a row needs at least */
    int64_t *rows;   /* room for all rows */
    double *cosines; /* likewise */
} NearestGiven;

/* The vectors that may belong to the pool: those whose cosine can reach what `pool` vectors surely do. */
typedef struct {
    int64_t *at; /* in their segment */
    double *low, *high, *room;
    int64_t count, pool, full;
    double floor;
} Near;

/* Drops the vectors that cannot reach the pool. Those dropped before are below the floor, so they are not
 * missed among the lows. */
static void narrow(Near *near, int64_t *ends, int64_t segments)
{
    if (near->count > near->pool) {
        for (int64_t n = 0; n < near->count; n++) near->room[n] = near->low[n];
        double floor = nth_largest(near->room, near->count, near->pool);
        near->floor = floor > near->floor ? floor : near->floor;
    }
    int64_t kept = 0, first = 0;
    for (int64_t s = 0; s < segments; s++) {
        for (int64_t n = first; n < ends[s]; n++) {
            near->at[kept] = near->at[n];
            near->low[kept] = near->low[n];
            near->high[kept] = near->high[n];
            kept += near->high[n] >= near->floor;
        }
        first = ends[s];
        ends[s] = kept;
    }
    near->count = kept;
    near->full = 2 * (kept > near->pool ? kept : near->pool) + SOME;
}

/* Adds the vectors of segment `s` that may belong to the pool; `ends` is where those of each one end. */
static void add_near(
    Near *near, const NearestPart *part, int64_t dimension, const Stepped *query, int64_t *ends, int64_t s)
{
    float low[SOME], high[SOME];
    const uint8_t *mask = real_mask(part->mask, part->bytes.vectors);
    for (int64_t start = 0; start < part->bytes.vectors; start += SOME) {
        int64_t size = part->bytes.vectors - start < SOME ? part->bytes.vectors - start : SOME;
        bounds(&part->bytes, start, size, dimension, query, low, high);
        for (int64_t n = 0; n < size; n++) {
            if ((double)high[n] < near->floor || (mask && !mask[start + n])) continue;
            near->at[near->count] = start + n;
            near->low[near->count] = (double)low[n];
            near->high[near->count++] = (double)high[n];
        }
        ends[s] = near->count;
        if (near->count >= near->full) narrow(near, ends, s + 1);
    }
    ends[s] = near->count;
}

/* Keeps the rows whose exact cosine reaches that of the pool; returns their number. */
static int64_t best_cosines(const NearestGiven *given, double *room, int64_t count)
{
    int64_t kept = 0;
    for (int64_t n = 0; n < count; n++) room[n] = given->cosines[n];
    double least = nth_largest(room, count, given->pool);
    for (int64_t n = 0; n < count; n++) {
        given->rows[kept] = given->rows[n];
        given->cosines[kept] = given->cosines[n];
        kept += given->cosines[n] >= least;
    }
    return kept;
}

/* The rows that may belong to the `pool` nearest, with their exact cosines; returns their number. */
API int64_t kernel_nearest(const void *all_given)
{
    const NearestGiven *given = all_given;
    int64_t dimension = given->dimension, all = 0;
    for (int64_t s = 0; s < given->count; s++) all += given->parts[s].bytes.vectors;
    int16_t *steps = malloc((size_t)(dimension + 1) * sizeof(int16_t));
    double *query = malloc((size_t)(dimension + 1) * sizeof(double));
    double *room = malloc((size_t)(2 * all + 1) * sizeof(double));
    int64_t *ends = malloc((size_t)(given->count + 1) * sizeof(int64_t));
    int64_t found = -1;
    if (steps && query && room && ends) {
        Stepped stepped = in_steps(given->query, dimension, steps);
        for (int64_t i = 0; i < dimension; i++) query[i] = (double)given->query[i];
        Near near = {given->rows, given->cosines, room, room + all, 0, given->pool, 2 * given->pool + SOME,
                     given->floor};
        for (int64_t s = 0; s < given->count; s++)
            add_near(&near, given->parts + s, dimension, &stepped, ends, s);
        narrow(&near, ends, given->count);
        for (int64_t s = 0, first = 0; s < given->count; first = ends[s++]) {
            const NearestPart *part = given->parts + s;
            dots(&part->matrix, near.at + first, ends[s] - first, dimension, query, near.low + first);
            for (int64_t n = first; n < ends[s]; n++) near.at[n] = part->numbers[near.at[n]];
        }
        found = near.count > given->pool ? best_cosines(given, room, near.count) : near.count;
    }
    free(steps), free(query), free(room), free(ends);
    return found;
}

typedef struct {
    const NearestPart *parts;
    int64_t count, dimension;
    const float *query;
    Wanted wanted;
} CosinesGiven;

/* The exact cosines of some rows; NaN for one that has no vector. */
API int64_t kernel_cosines(const void *all_given)
{
    const CosinesGiven *given = all_given;
    const int64_t *rows = given->wanted.rows, many = *given->wanted.count, dimension = given->dimension;
    double *query = malloc((size_t)(dimension + 1) * sizeof(double));
    double *cosines = malloc((size_t)(many + 1) * sizeof(double));
    int64_t *at = malloc((size_t)(many + 1) * sizeof(int64_t)), *here = malloc((size_t)(many + 1) * sizeof(int64_t));
    int failed = !query || !cosines || !at || !here;
    double *values = given->wanted.values;
    if (!failed) begin_values(&given->wanted);
    for (int64_t i = 0; i < dimension && !failed; i++) query[i] = (double)given->query[i];
    for (int64_t s = 0; s < given->count && !failed; s++) {
        const NearestPart *part = given->parts + s;
        int64_t vectors = part->bytes.vectors, met = 0;
        for (int64_t i = 0, place = 0; i < many && place < vectors; i++) {
            if (!isnan(values[i])) continue;
            place = seek_row(part->numbers, place, vectors, rows[i]);
            if (place == vectors || part->numbers[place] != rows[i]) continue;
            at[met] = place;
            here[met++] = i;
        }
        dots(&part->matrix, at, met, dimension, query, cosines);
        for (int64_t n = 0; n < met; n++) values[here[n]] = cosines[n];
    }
    free(query), free(cosines), free(at), free(here);
    return failed ? -1 : many;
}
