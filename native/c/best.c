/* Keeps the best rows while scores arrive, and every row that ties with the last of them. */
#include "kernel.h"

#include <string.h>

API int64_t kernel_abi(void) { return KERNEL_ABI; }

CLONES double run_max(const double *values, int64_t size)
{
    double most[8];
    if (size < 8) {
        double one = values[0];
        for (int64_t i = 1; i < size; i++) one = values[i] > one ? values[i] : one;
        return one;
    }
    for (int j = 0; j < 8; j++) most[j] = values[j];
    for (int64_t i = 8; i + 8 <= size; i += 8)
        for (int j = 0; j < 8; j++) most[j] = values[i + j] > most[j] ? values[i + j] : most[j];
    for (int64_t i = size & ~(int64_t)7; i < size; i++) most[0] = values[i] > most[0] ? values[i] : most[0];
    double one = most[0];
    for (int j = 1; j < 8; j++) one = most[j] > one ? most[j] : one;
    return one;
}

void best_begin(Best *best, int32_t *docs, double *scores, int64_t pool, double floor)
{
    best->docs = docs;
    best->scores = scores;
    best->count = 0;
    best->pool = pool;
    best->full = 2 * pool + 1024;
    best->floor = floor;
}

double nth_largest(double *values, int64_t size, int64_t count)
{
    int64_t low = 0, high = size - 1, want = count - 1;
    while (low < high) {
        double pivot = values[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (values[i] > pivot) i++;
            while (values[j] < pivot) j--;
            if (i <= j) {
                double kept = values[i];
                values[i++] = values[j];
                values[j--] = kept;
            }
        }
        if (want <= j) high = j;
        else if (want >= i) low = i;
        else break;
    }
    return values[want];
}

/* Drops the rows below the pool; `room` holds as many doubles as there are rows. */
int best_narrow(Best *best, double *room)
{
    if (best->count <= best->pool) return 0;
    memcpy(room, best->scores, (size_t)best->count * sizeof(double));
    double floor = nth_largest(room, best->count, best->pool);
    int64_t kept = 0;
    for (int64_t i = 0; i < best->count; i++) {
        if (best->scores[i] >= floor) {
            best->docs[kept] = best->docs[i];
            best->scores[kept++] = best->scores[i];
        }
    }
    best->count = kept;
    best->floor = floor;
    /* Many ties may all stay: then the next time comes later. */
    best->full = 2 * (kept > best->pool ? kept : best->pool) + 1024;
    return 0;
}
