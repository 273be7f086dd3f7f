/* The chaos game of a flame in C, by hand: the yardstick for flames on the CPU. float32, AVX-512.

   The game is that of fractals, number for number, so that the sums are the same: see
   fractals/scatter/game.py. So is the way: POOL trajectories are moved into lists by transform,
   a list goes through its variation, and points become records, which are kept by tile of 64 x 64
   buckets. Each transform has one of five variations with a weight, and nothing else. flame.py
   compiles this, and calls `play`. */

#include <immintrin.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define POOL 1024
#define ROW (POOL + 16)
#define LIST 8192 /* records; a list is added when it has half of them */
#define FAR 1e10f
#define MOST 16 /* transforms */
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define INLINE static inline __attribute__((always_inline))

enum { LINEAR, SINUSOIDAL, SPHERICAL, SWIRL, JULIA };
enum { CHOICE, START, DRAW };

typedef struct {
    float a, b, c, d, e, f, weight, color, speed;
    int32_t variation;
} transform;

typedef struct {
    const transform *transforms;
    const int32_t *bounds;
    int32_t choices;
    float view[12];
    int32_t width, top, tiles;
    const uint32_t *colors;
    uint64_t k0, k1;
    int64_t first, count, steps, fuse;
    uint32_t *sums;    /* tiles x 4096 x 4 */
    uint32_t *records; /* (tiles + 1) x LIST */
    int32_t *fill;     /* tiles + 1 */
    int64_t hits;
} game;

typedef struct {
    uint64_t v[4];
} four;

/* Philox4x32-10. */
#define MASK 0xFFFFFFFFull
INLINE four philox(uint64_t c0, uint64_t c1, uint64_t c2, uint64_t c3, uint64_t k0, uint64_t k1) {
    EACH(round, 10) {
        uint64_t p = (uint64_t)(uint32_t)c0 * 0xD2511F53u, q = (uint64_t)(uint32_t)c2 * 0xCD9E8D57u;
        c0 = (q >> 32) ^ c1 ^ k0, c1 = q & MASK;
        c2 = (p >> 32) ^ c3 ^ k1, c3 = p & MASK;
        k0 = (k0 + 0x9E3779B9) & MASK, k1 = (k1 + 0xBB67AE85) & MASK;
    }
    return (four){{c0, c1, c2, c3}};
}

INLINE __m512i low(__m512i a, __m512i b) { return _mm512_mul_epu32(a, b); }

/* The first or all four words of 8 trajectories, from `t` on. */
INLINE void philox_8(__m512i c0, __m512i c1, __m512i c3, uint64_t k0, uint64_t k1, __m512i *out) {
    const __m512i mask = _mm512_set1_epi64(MASK);
    const __m512i m = _mm512_set1_epi64(0xD2511F53), w = _mm512_set1_epi64(0xCD9E8D57);
    __m512i c2 = _mm512_setzero_si512();
    EACH(round, 10) {
        __m512i p = low(c0, m), q = low(c2, w);
        const __m512i x = _mm512_set1_epi64(k0), y = _mm512_set1_epi64(k1);
        c0 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(q, 32), c1, x, 0x96);
        c1 = _mm512_and_si512(q, mask);
        c2 = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p, 32), c3, y, 0x96);
        c3 = _mm512_and_si512(p, mask);
        k0 = (k0 + 0x9E3779B9) & MASK, k1 = (k1 + 0xBB67AE85) & MASK;
    }
    out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

INLINE float fma_(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
INLINE float unit(uint64_t word) { return (float)(int32_t)(word >> 8) * 0x1p-24f; }
INLINE float start(uint64_t word) { return fma_((float)(int32_t)(word >> 8), 0x1p-23f, -1.0f); }

INLINE void sincos_(float x, float *sine, float *cosine) {
    const float k = __builtin_rintf(x * (float)(2 / 3.141592653589793));
    float r = fma_(-k, (float)1.570796012878418, x);
    r = fma_(-k, (float)3.139164164167596e-07, r);
    r = fma_(-k, (float)6.223369259164557e-14, r);
    r = fma_(-k, (float)2.912732056093356e-20, r);
    const float t = r * r;
    float s = fma_(t, (float)(-1 / 1307674368000.), (float)(1 / 6227020800.));
    s = fma_(t, s, (float)(-1 / 39916800.));
    s = fma_(t, s, (float)(1 / 362880.));
    s = fma_(t, s, (float)(-1 / 5040.));
    s = fma_(t, s, (float)(1 / 120.));
    s = fma_(t, s, (float)(-1 / 6.));
    s = fma_(t * r, s, r);
    float c = fma_(t, (float)(1 / 20922789888000.), (float)(-1 / 87178291200.));
    c = fma_(t, c, (float)(1 / 479001600.));
    c = fma_(t, c, (float)(-1 / 3628800.));
    c = fma_(t, c, (float)(1 / 40320.));
    c = fma_(t, c, (float)(-1 / 720.));
    c = fma_(t, c, (float)(1 / 24.));
    c = fma_(t, c, -0.5f);
    c = fma_(t, c, 1.0f);
    const float q = fma_(-4.0f, __builtin_rintf(k * 0.25f), k);
    const int odd = __builtin_fabsf(q) == 1, opposite = __builtin_fabsf(q) == 2;
    const float u = odd ? c : s, v = odd ? s : c;
    *sine = opposite | (q == -1) ? -u : u;
    *cosine = opposite | (q == 1) ? -v : v;
}

static float X[ROW], Y[ROW], C[ROW], SX[ROW], SY[ROW], SC[ROW], U[ROW];
static int32_t order[2][ROW], words[4][ROW], next[ROW], record[ROW], tile[ROW];
static uint8_t lost[ROW];

/* Draw the numbers that choose the next four transforms, and keep these in 4 bits each. */
static void choose(const game *g, int64_t s, int32_t *who, int n) {
    const __m512i group = _mm512_set1_epi64(s >> 2), kind = _mm512_set1_epi64(CHOICE);
    __m512i t = _mm512_add_epi64(_mm512_set1_epi64(g->first), _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
    for (int i = 0; i < n; i += 8, t = _mm512_add_epi64(t, _mm512_set1_epi64(8))) {
        __m512i w[4];
        philox_8(group, t, kind, g->k0, g->k1, w);
        EACH(m, 4)
        _mm256_storeu_si256((void *)(words[m] + i), _mm512_cvtepi64_epi32(_mm512_srli_epi64(w[m], 1)));
    }
    memset(next, 0, sizeof next);
    EACH(m, g->choices - 1) {
        const int32_t bound = g->bounds[m];
        EACH(i, n) {
            next[i] += (words[0][i] >= bound) << 16 | (words[1][i] >= bound) << 20 |
                       (words[2][i] >= bound) << 24 | (words[3][i] >= bound) << 28;
        }
    }
    EACH(i, n) who[i] = (who[i] & 0xFFFF) | next[who[i] & 0xFFFF];
}

static void sort(const game *g, int64_t s, const int32_t *who, int32_t *moved, int *ends, int n) {
    const __m512i nibble = _mm512_set1_epi32(15), above = _mm512_set1_epi32(16 + 4 * (s & 3));
    int end = 0;
    EACH(k, g->choices) {
        const __m512i own = _mm512_set1_epi32(k);
        for (int i = 0; i < n; i += 16) {
            const __m512i w = _mm512_loadu_si512(who + i);
            const __mmask16 valid = n - i < 16 ? (1u << (n - i)) - 1 : 0xFFFF;
            const __mmask16 m = _mm512_mask_cmpeq_epi32_mask(
                valid, _mm512_and_si512(_mm512_srlv_epi32(w, above), nibble), own);
            _mm512_storeu_ps(SX + end, _mm512_maskz_compress_ps(m, _mm512_loadu_ps(X + i)));
            _mm512_storeu_ps(SY + end, _mm512_maskz_compress_ps(m, _mm512_loadu_ps(Y + i)));
            _mm512_storeu_ps(SC + end, _mm512_maskz_compress_ps(m, _mm512_loadu_ps(C + i)));
            _mm512_storeu_si512(moved + end, _mm512_maskz_compress_epi32(m, w));
            end += __builtin_popcount(m);
        }
        ends[k] = end;
    }
}

#define LOOP(...)                                                                                 \
    for (int i = begin; i < end; i++) {                                                           \
        const float x = fma_(f.a, SX[i], fma_(f.b, SY[i], f.c));                                  \
        const float y = fma_(f.d, SX[i], fma_(f.e, SY[i], f.f));                                  \
        float u, v;                                                                               \
        __VA_ARGS__;                                                                              \
        X[i] = fma_(f.weight, u, 0.0f), Y[i] = fma_(f.weight, v, 0.0f);                           \
        C[i] = fma_(f.speed, f.color - SC[i], SC[i]);                                             \
    }

static void apply(const game *g, transform f, int64_t s, const int32_t *who, int begin, int end) {
    if (f.variation == LINEAR) LOOP(u = x, v = y)
    if (f.variation == SINUSOIDAL) LOOP(float c; sincos_(x, &u, &c); sincos_(y, &v, &c))
    if (f.variation == SPHERICAL)
        LOOP(const float r = 1 / (fma_(x, x, y * y) + (float)1e-10); u = x * r, v = y * r)
    if (f.variation == SWIRL)
        LOOP(float p, q; sincos_(fma_(x, x, y * y), &p, &q); u = fma_(p, x, -(q * y)); v = fma_(q, x, p * y))
    if (f.variation == JULIA) {
        for (int i = begin; i < end; i += 8) {
            const __m256i id = _mm256_and_si256(_mm256_loadu_si256((void *)(who + i)), _mm256_set1_epi32(0xFFFF));
            __m512i w[4];
            philox_8(_mm512_set1_epi64(s), _mm512_add_epi64(_mm512_cvtepi32_epi64(id), _mm512_set1_epi64(g->first)),
                     _mm512_set1_epi64(DRAW), g->k0, g->k1, w);
            const __m256i word = _mm512_cvtepi64_epi32(_mm512_srli_epi64(w[0], 8));
            _mm256_storeu_ps(U + i, _mm256_mul_ps(_mm256_cvtepi32_ps(word), _mm256_set1_ps(0x1p-24f)));
        }
        LOOP(const float r = __builtin_sqrtf(fma_(x, x, y * y)); const float h = (r + y) * 0.5f, l = (r - y) * 0.5f;
             const float c = __builtin_sqrtf(r + y > 0 ? h : 0), z = __builtin_sqrtf(r - y > 0 ? l : 0);
             const float sign = U[i] < 0.5f ? 1.0f : -1.0f; u = sign * c; v = sign * (x < 0 ? -z : z))
    }
}

static void empty(game *g, int t) {
    const uint32_t *r = g->records + (size_t)t * LIST;
    uint32_t *s = g->sums + (size_t)t * 16384;
    EACH(i, g->fill[t]) {
        _mm_prefetch((const char *)(s + (size_t)(r[i + 64] & 4095) * 4), _MM_HINT_T0);
        __m128i *at = (__m128i *)(s + (size_t)(r[i] & 4095) * 4);
        const __m128i add = _mm_loadu_si128((const __m128i *)(g->colors + (size_t)(r[i] >> 12) * 4));
        _mm_storeu_si128(at, _mm_add_epi32(_mm_loadu_si128(at), add));
    }
    g->fill[t] = 0;
}

static void file(game *g, int some, int n) {
    const float *v = g->view;
    const int across = (g->width + 63) / 64, outside = g->tiles;
    EACH(i, n) {
        const float dx = fma_(v[10], X[i], -v[0]), dy = fma_(v[10], Y[i], -v[1]);
        const float px = fma_(v[2], dx, fma_(v[3], dy, v[6])), py = fma_(v[4], dx, fma_(v[5], dy, v[7]));
        const int in = (px >= 0) & (py >= v[11]) & (px < v[8]) & (py < v[9]);
        const int32_t x = in ? px : 0, y = (int32_t)(in ? py : v[11]) - g->top;
        float c = C[i] * 256;
        c = c > 0 ? c : 0, c = c < 255 ? c : 255;
        record[i] = (int32_t)c << 12 | (y & 63) << 6 | (x & 63);
        tile[i] = in ? (y >> 6) * across + (x >> 6) : outside;
    }
    if (some) EACH(i, n) if (lost[i]) tile[i] = outside;
    int longest = 0;
    EACH(i, n) {
        const int t = tile[i], at = g->fill[t]++;
        g->records[(size_t)t * LIST + at] = record[i];
        longest = at > longest ? at : longest;
    }
    g->hits += n - g->fill[outside];
    g->fill[outside] = 0;
    if (longest >= LIST / 2) EACH(t, g->tiles) if (g->fill[t] > LIST / 4) empty(g, t);
}

static void play_pool(game *g, int n) {
    EACH(i, n) {
        const four w = philox(0, g->first + i, 0, START, g->k0, g->k1);
        X[i] = start(w.v[0]), Y[i] = start(w.v[1]), C[i] = unit(w.v[2]);
        order[0][i] = i;
    }
    for (int64_t s = 0; s < g->steps + g->fuse; s++) {
        int32_t *who = order[s & 1], *moved = order[~s & 1];
        int ends[MOST], begin = 0, some = 0;
        if (!(s & 3)) choose(g, s, who, n);
        sort(g, s, who, moved, ends, n);
        EACH(k, g->choices) {
            apply(g, g->transforms[k], s, moved, begin, ends[k]);
            begin = ends[k];
        }
        EACH(i, n) some |= lost[i] = !((__builtin_fabsf(X[i]) <= FAR) & (__builtin_fabsf(Y[i]) <= FAR));
        if (some) EACH(i, n) if (lost[i]) {
            const four w = philox(s, g->first + (moved[i] & 0xFFFF), 1, START, g->k0, g->k1);
            X[i] = start(w.v[0]), Y[i] = start(w.v[1]);
        }
        if (s >= g->fuse) file(g, some, n);
    }
}

/* Play g->count trajectories from g->first on; with `last` all records are added to the sums. */
void play(game *g, int last) {
    for (; g->count > 0; g->count -= POOL, g->first += POOL)
        play_pool(g, g->count < POOL ? g->count : POOL);
    if (last) EACH(t, g->tiles) empty(g, t);
}
