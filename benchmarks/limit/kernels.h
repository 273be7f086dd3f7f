/* What is compiled for each formula: phase 1, a block of steps, and the replay; see limit.c. */

#include <string.h>

#include "vectors.h"

/* The best that were found, on an AMD EPYC with AVX-512. They change the speed, and nothing else. */
#ifndef VECTORS
#define VECTORS (VECTOR_BITS == 512 ? 6 : 7)
#endif
#ifndef UNROLL
#define UNROLL (VECTOR_BITS == 512 ? 3 : 1)
#endif
#ifndef BESIDE
#define BESIDE 4
#endif
#ifndef EARLY
#define EARLY 16
#endif
#ifndef FIRST
#define FIRST 16 /* steps in the first block */
#endif
#ifndef FACTOR
#define FACTOR 2.0 /* see next_steps */
#endif
#ifndef FLUSH
#define FLUSH 256 /* orbits that are replayed together in a stream */
#endif
#ifndef TILE_WIDTH
#define TILE_WIDTH 768
#define TILE_HEIGHT 24
#endif

#define WIDE (VECTORS * LANES)
#define ROOM (TILE_WIDTH * TILE_HEIGHT + 16 * LANES)
#define EACH(v, count) _Pragma("GCC unroll 8") for (int v = 0; v < count; v++)

enum formula { MANDELBROT, BURNING_SHIP, TRICORN, MULTIBROT_3 };

typedef struct {
    const double *xs, *ys; /* places of columns and rows; BESIDE vectors are read beyond xs */
    long width, height;
    int limit;
    double radius2;
    int julia; /* whether c is a + ib, and the samples are z_0 */
    double a, b;
    int32_t *count;
    float *norm;
} job;

typedef struct list {
    real x[ROOM], y[ROOM], a[ROOM], b[ROOM];
    integer n[ROOM], at[ROOM];
} list;

typedef struct {
    real x[WIDE], y[WIDE];
    unsigned out[VECTORS]; /* lanes that are outside */
} fresh;

/* z -> f(z) + c, with the roundings of fractals/formulas. */
INLINE void step(enum formula formula, vec *x, vec *y, vec a, vec b) {
    const vec u = *x, v = *y;
    switch (formula) {
    case MANDELBROT:
        *y = fmadd(add(u, u), v, b);
        *x = fmadd(u, u, fnmadd(v, v, a));
        break;
    case BURNING_SHIP:
        *y = fmadd(absolute(add(u, u)), absolute(v), b);
        *x = fmadd(u, u, fnmadd(v, v, a));
        break;
    case TRICORN:
        *y = fnmadd(add(u, u), v, b);
        *x = fmadd(u, u, fnmadd(v, v, a));
        break;
    case MULTIBROT_3: {
        const vec p = fmsub(u, u, mul(v, v)), q = mul(add(u, u), v);
        *x = fmadd(p, u, fnmadd(q, v, a));
        *y = fmadd(p, v, fmadd(q, u, b));
        break;
    }
    }
}

INLINE vec square(vec x, vec y) { return fmadd(x, x, mul(y, y)); } /* |z|^2 */

/* Write the counts and norms of LANES neighbors, or of the first `valid` of them. */
INLINE void write_counts(const job *job, long at, long valid, ivec n, vec norm) {
    if (valid >= LANES) {
        store_counts(job->count + at, n);
        store_norms(job->norm + at, norm);
    } else if (valid > 0) {
        int32_t counts[LANES];
        float norms[LANES];
        store_counts(counts, n);
        store_norms(norms, norm);
        memcpy(job->count + at, counts, valid * sizeof *counts);
        memcpy(job->norm + at, norms, valid * sizeof *norms);
    }
}

/* Phase 1 of a tile whose corner is (left, top): return how many orbits go to the list. */
INLINE long begin(enum formula formula, int julia, const job *job, long left, long top,
                  list *list) {
    const long right = left + TILE_WIDTH < job->width ? left + TILE_WIDTH : job->width;
    const long bottom = top + TILE_HEIGHT < job->height ? top + TILE_HEIGHT : job->height;
    const int last = job->limit - 1; /* the last step that can make a difference */
    const int early = last < 2 * EARLY ? last : EARLY;
    const vec radius2 = splat(last ? (real)job->radius2 : (real)__builtin_inf());
    integer upwards[LANES];
    for (int lane = 0; lane < LANES; lane++) upwards[lane] = lane;
    long found = 0;
    for (long j = top; j < bottom; j++)
        for (long i = left; i < right; i += BESIDE * LANES) {
            vec x[BESIDE], y[BESIDE], a[BESIDE], b[BESIDE], norm[BESIDE];
            ivec n[BESIDE];
            mask stays[BESIDE];
            unsigned any = 0;
            EACH(v, BESIDE) {
                const long from = i + v * LANES;
                real xs[LANES];
                for (int lane = 0; lane < LANES; lane++) xs[lane] = (real)job->xs[from + lane];
                x[v] = load(xs);
                y[v] = splat((real)job->ys[j]);
                a[v] = julia ? splat((real)job->a) : x[v];
                b[v] = julia ? splat((real)job->b) : y[v];
                if (julia) step(formula, &x[v], &y[v], a[v], b[v]);
                n[v] = isplat(1);
                norm[v] = square(x[v], y[v]);
                stays[v] = both(less_equal(norm[v], radius2), lanes(below(right - from)));
                any |= bits(stays[v]);
            }
            for (int k = 1; k < early && any; k++) {
                any = 0;
                EACH(v, BESIDE) {
                    step(formula, &x[v], &y[v], a[v], b[v]);
                    const vec m = square(x[v], y[v]);
                    norm[v] = blend(stays[v], m, norm[v]);
                    n[v] = count_one(stays[v], n[v]);
                    stays[v] = both(stays[v], less_equal(m, radius2));
                    any |= bits(stays[v]);
                }
            }
            EACH(v, BESIDE) {
                const long from = i + v * LANES, at = j * job->width + from;
                const unsigned m = bits(stays[v]);
                write_counts(job, at, right - from,
                             iblend(stays[v], isplat(job->limit), n[v]),
                             blend(stays[v], splat(0), norm[v]));
                if (!m || early == last) continue;
                store(list->x + found, compress(m, x[v]));
                store(list->y + found, compress(m, y[v]));
                if (!julia) {
                    store(list->a + found, compress(m, a[v]));
                    store(list->b + found, compress(m, b[v]));
                }
                istore(list->at + found,
                       icompress(m, iadd(isplat((integer)at), iload(upwards))));
                found += __builtin_popcount(m);
            }
        }
    return found;
}

/* A block: take WIDE orbits of a list, from i on, some steps further without a test. Return 0 if
   the first `valid` of them are still inside; else leave the list alone, and write where they are
   now, and who is outside. */
INLINE unsigned block(enum formula formula, int julia, const job *job, list *list, long i,
                      long valid, int steps, fresh *now) {
    const vec radius2 = splat((real)job->radius2);
    vec x[VECTORS], y[VECTORS], a[VECTORS], b[VECTORS];
    unsigned any = 0;
    EACH(v, VECTORS) {
        const long k = i + v * LANES;
        x[v] = load(list->x + k), y[v] = load(list->y + k);
        a[v] = julia ? splat((real)job->a) : load(list->a + k);
        b[v] = julia ? splat((real)job->b) : load(list->b + k);
    }
    int k = 0;
    for (; k + UNROLL <= steps; k += UNROLL)
        _Pragma("GCC unroll 8") for (int u = 0; u < UNROLL; u++)
            EACH(v, VECTORS) step(formula, &x[v], &y[v], a[v], b[v]);
    for (; k < steps; k++) EACH(v, VECTORS) step(formula, &x[v], &y[v], a[v], b[v]);
    EACH(v, VECTORS) {
        const mask inside = less_equal(square(x[v], y[v]), radius2);
        now->out[v] = ~bits(inside) & below(valid - v * LANES);
        any |= now->out[v];
    }
    real *to_x = any ? now->x : list->x + i, *to_y = any ? now->y : list->y + i;
    EACH(v, VECTORS) {
        store(to_x + v * LANES, x[v]);
        store(to_y + v * LANES, y[v]);
    }
    return any;
}

/* Take the first `count` orbits of a list on from their n, with a test at each step, until all have
   escaped, which is known of them, and write their counts and norms. In a stream some have run
   past the limit: nothing is left to write for those. */
INLINE void replay(enum formula formula, int julia, const job *job, const list *list,
                   long count) {
    const vec radius2 = splat((real)job->radius2);
    for (long i = 0; i < count; i += BESIDE * LANES) {
        vec x[BESIDE], y[BESIDE], a[BESIDE], b[BESIDE], norm[BESIDE];
        ivec n[BESIDE];
        mask stays[BESIDE];
        EACH(v, BESIDE) {
            const long k = i + v * LANES;
            x[v] = load(list->x + k), y[v] = load(list->y + k);
            a[v] = julia ? splat((real)job->a) : load(list->a + k);
            b[v] = julia ? splat((real)job->b) : load(list->b + k);
            n[v] = iload(list->n + k);
            norm[v] = splat(0);
            stays[v] = lanes(below(count - k));
        }
        for (unsigned any = 1; any;) {
            any = 0;
            EACH(v, BESIDE) {
                step(formula, &x[v], &y[v], a[v], b[v]);
                const vec m = square(x[v], y[v]);
                norm[v] = blend(stays[v], m, norm[v]);
                n[v] = count_one(stays[v], n[v]);
                stays[v] = both(stays[v], less_equal(m, radius2));
                any |= bits(stays[v]);
            }
        }
        int32_t counts[BESIDE * LANES];
        float norms[BESIDE * LANES];
        EACH(v, BESIDE) {
            store_counts(counts + v * LANES, n[v]);
            store_norms(norms + v * LANES, norm[v]);
        }
        const long here = count - i < BESIDE * LANES ? count - i : BESIDE * LANES;
        for (long k = 0; k < here; k++)
            if (counts[k] < job->limit) {
                job->count[list->at[i + k]] = counts[k];
                job->norm[list->at[i + k]] = norms[k];
            }
    }
}
