/* The colors of a picture from its raw numbers: places in a palette, layers, the mean of a pixel's
   samples. Operations and their order are those of fractals.kernels.shade and blend, so the bits
   are, too. REAL is the number type of the raw numbers.

   Each row passes short loops. Those of arithmetic become vectors of the compiler; colors, which
   are looked up, are short vectors of four channels. */

#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TURNS 1e9

#if REAL_BITS == 64
typedef double real;
typedef int64_t integer;
#define FRACTION 52
#define BIAS 1023
#define FMA __builtin_fma
#define SQRT __builtin_sqrt
#define ABS __builtin_fabs
#else
typedef float real;
typedef int32_t integer;
#define FRACTION 23
#define BIAS 127
#define FMA __builtin_fmaf
#define SQRT __builtin_sqrtf
#define ABS __builtin_fabsf
#endif

#define INLINE static inline __attribute__((always_inline))

INLINE real log2_of(real v) {
    const real unit = (real)(2 / 0.69314718055994530942);
    integer bits;
    memcpy(&bits, &v, sizeof bits);
    real e = (real)(int32_t)(((bits >> FRACTION) & (2 * BIAS + 1)) - BIAS), m;
    bits = (bits & (((integer)1 << FRACTION) - 1)) | ((integer)BIAS << FRACTION);
    memcpy(&m, &bits, sizeof m);
    int high = m > (real)1.4142135623730951;
    m = high ? m * (real)0.5 : m;
    e = high ? e + 1 : e;
    real s = (m - 1) / (m + 1), t = s * s;
    real sum = FMA(t, (real)(2 / 0.69314718055994530942 / 11), (real)(2 / 0.69314718055994530942 / 9));
    sum = FMA(t, sum, (real)(2 / 0.69314718055994530942 / 7));
    sum = FMA(t, sum, (real)(2 / 0.69314718055994530942 / 5));
    sum = FMA(t, sum, (real)(2 / 0.69314718055994530942 / 3));
    sum = FMA(t, sum, unit);
    return FMA(s, sum, e);
}

INLINE real distance(real x, real y, real p, real q, const real *constants) {
    real m = FMA(x, x, y * y);
    p = ABS(p), q = ABS(q);
    real large = p > q ? p : q, small = p > q ? q : p;
    int known = large > 0;
    large = known ? large : 1;
    real ratio = small / large, size = large * SQRT(FMA(ratio, ratio, 1));
    real found = constants[2] * (SQRT(m) * log2_of(m) / size);
    return known ? found : 0;
}

INLINE real slopes(real x, real y, real p, real q, const real *constants) {
    real largest = ABS(p) > ABS(q) ? ABS(p) : ABS(q);
    int known = largest > 0;
    real scale = 1 / (known ? largest : 1), s = p * scale, t = q * scale;
    real g = FMA(x, s, y * t), h = FMA(y, s, -(x * t)), m = FMA(g, g, h * h);
    known &= m > 0;
    real size = SQRT(known ? m : 1);
    real u = g / size, v = h / size;
    g = known ? u : 0, h = known ? v : 0;
    real steep = constants[2], level = constants[3], light_z = constants[6];
    real ambient = constants[7], specular = constants[8];
    real toward = FMA(steep, FMA(g, constants[4], h * constants[5]), level * light_z);
    real lit = toward > 0 ? toward : 0, glint = FMA(toward + toward, level, -light_z);
    glint = glint > 0 ? glint : 0;
    glint = glint * glint;
    glint = glint * glint;
    glint = glint * glint;
    real shade = FMA(1 - ambient, lit, ambient);
    return FMA(specular, FMA(glint, glint, -shade), shade);
}

/* Fill the places in the palette of n samples. kind: 0 distance with the logarithm, 1 slopes. */
INLINE void place(int kind, long n, const int32_t *count, const real *x, const real *y,
                  const real *dx, const real *dy, const real *given, int32_t limit, int cyclic,
                  float *restrict position) {
    real constants[9];
    memcpy(constants, given, sizeof constants);
    for (long i = 0; i < n; i++) {
        int escaped = count[i] < limit;
        real m = FMA(x[i], x[i], y[i] * y[i]);
        int known = escaped & (m < (real)INFINITY);
        real u = known ? x[i] : 2, w = known ? y[i] : 0;
        real v = kind ? slopes(u, w, dx[i], dy[i], constants)
                      : distance(u, w, dx[i], dy[i], constants);
        real t = kind ? v : log2_of(1 + ABS(v));
        t = !kind && v < 0 ? -t : t;
        t = FMA(constants[0], t, constants[1]);
        t = ABS(t) < (real)MOST_TURNS ? t : 0;
        if (cyclic) {
            t = t - (real)(int64_t)t;
            t = t < 0 ? t + 1 : t;
        } else {
            t = t < 1 ? t : 1;
            t = t > 0 ? t : 0;
        }
        position[i] = escaped ? (float)t : -1.0f;
    }
}

void places(int kind, int cyclic, long n, const int32_t *count, const real *x, const real *y,
            const real *dx, const real *dy, const real *constants, int32_t limit, float *position) {
    if (kind && cyclic) place(1, n, count, x, y, dx, dy, constants, limit, 1, position);
    else if (kind) place(1, n, count, x, y, dx, dy, constants, limit, 0, position);
    else if (cyclic) place(0, n, count, x, y, dx, dy, constants, limit, 1, position);
    else place(0, n, count, x, y, dx, dy, constants, limit, 0, position);
}

/* A palette has a color beyond its last, then that of the inside; each has four numbers here. */
INLINE void look_up(long n, int entries, const float *position, int32_t *restrict at,
                    float *restrict part) {
    float scale = (float)entries;
    int last = entries - 1;
    for (long i = 0; i < n; i++) {
        float t = position[i];
        int drawn = t >= 0;
        t = drawn ? t : 0;
        int k = (int)(t * scale);
        k = k < last ? k : last;
        at[i] = 4 * k;
        part[i] = __builtin_fmaf(t, scale, -(float)k);
    }
}

INLINE __m128 between(const float *lookup, int at, float part) {
    __m128 here = _mm_loadu_ps(lookup + at), there = _mm_loadu_ps(lookup + at + 4);
    return _mm_fmadd_ps(_mm_set1_ps(part), _mm_sub_ps(there, here), here);
}

/* Paint pixels of one layer: the mean of side x side samples. */
void paint(long height, long width, int side, int entries, const float *position,
           const float *lookup, const uint8_t *encode, int brightest, uint8_t *rgb) {
    long across = width * side;
    int32_t *at = malloc(across * side * sizeof *at);
    float *part = malloc(across * side * sizeof *part);
    const __m128 share = _mm_set1_ps(1.0f / (float)(side * side));
    const __m128 top = _mm_set1_ps((float)brightest), half = _mm_set1_ps(0.5f);
    for (long j = 0; j < height; j++) {
        const float *row = position + j * side * across;
        look_up(across * side, entries, row, at, part);
        for (long i = 0; i < across * side; i++) {
            at[i] = row[i] >= 0 ? at[i] : 4 * (entries + 1);
            part[i] = row[i] >= 0 ? part[i] : 0;
        }
        for (long i = 0; i < width; i++) {
            __m128 light = _mm_setzero_ps();
            for (int v = 0; v < side; v++)
                for (long u = v * across + i * side; u < v * across + (i + 1) * side; u++)
                    light = _mm_add_ps(light, between(lookup, at[u], part[u]));
            __m128i level = _mm_cvttps_epi32(_mm_fmadd_ps(_mm_mul_ps(light, share), top, half));
            uint8_t *pixel = rgb + 3 * (j * width + i);
            pixel[0] = encode[_mm_extract_epi32(level, 0)];
            pixel[1] = encode[_mm_extract_epi32(level, 1)];
            pixel[2] = encode[_mm_extract_epi32(level, 2)];
        }
    }
    free(at), free(part);
}

INLINE float soft_light(float b, float a) {
    float polynomial = __builtin_fmaf(__builtin_fmaf(16, b, -12), b, 4);
    float dark = __builtin_fmaf(polynomial, b, -b), light = __builtin_sqrtf(b) - b;
    float lighter = b <= 0.25f ? dark : light, darker = b * (1 - b);
    return __builtin_fmaf(2, a, -1) * (a <= 0.5f ? darker : lighter);
}

INLINE float multiply(float b, float a) { return __builtin_fmaf(b, a, -b); }

/* Fill how much a mask of `rows` x `columns` lets through of height x width samples, from column i0
   and row j0 on. Sample (j, i) lies at row c i + d j + f and column a i + b j + e of the mask, where
   map is a, b, c, d, e, f. */
void weigh(long height, long width, long i0, long j0, const double *map, const double *bright,
           long rows, long columns, float opacity, float *restrict weights) {
    double most_u = (double)(columns - 1), most_v = (double)(rows - 1);
    for (long j = 0; j < height; j++)
        for (long i = 0; i < width; i++) {
            double x = (double)(i0 + i), y = (double)(j0 + j);
            double u = map[0] * x + map[1] * y + map[4], v = map[2] * x + map[3] * y + map[5];
            u = u > 0 ? u : 0, v = v > 0 ? v : 0;
            u = u < most_u ? u : most_u, v = v < most_v ? v : most_v;
            int32_t k = (int32_t)u, l = (int32_t)v;
            int32_t right = k + (k + 1 < columns), below = l + (l + 1 < rows);
            u -= k, v -= l;
            const double *here = bright + l * columns, *under = bright + below * columns;
            double top = here[k] * (1 - u) + here[right] * u;
            double bottom = under[k] * (1 - u) + under[right] * u;
            weights[j * width + i] = (float)(top * (1 - v) + bottom * v) * opacity;
        }
}

/* Blend a layer into the colors of a row, three numbers a sample. mode: 0 first, 1 soft light,
   2 multiply. weights: opacities of the samples, of a layer with a mask. */
INLINE void layer(int mode, long n, int entries, const float *position, const float *lookup,
                  float opacity, const float *weights, float *restrict colors, int32_t *at,
                  float *part, float *restrict above, float *restrict shares) {
    look_up(n, entries, position, at, part);
    for (long i = 0; i < n; i++) {
        int drawn = position[i] >= 0;
        if (mode == 0) {
            at[i] = drawn ? at[i] : 4 * (entries + 1);
            part[i] = drawn ? part[i] : 0;
        }
    }
    float *to = mode ? above : colors;
    for (long i = 0; i < n; i++) _mm_storeu_ps(to + 3 * i, between(lookup, at[i], part[i]));
    if (!mode) return;
    for (long i = 0; i < n; i++) {
        float share = weights ? weights[i] : opacity;
        _mm_storeu_ps(shares + 3 * i, _mm_set1_ps(position[i] >= 0 ? share : 0));
    }
    for (long k = 0; k < 3 * n; k++) {
        float b = colors[k], a = above[k];
        if (weights) { /* it was blended into a group of its own, and clamped */
            a = a < 1 ? a : 1;
            a = a > 0 ? a : 0;
        }
        float t = __builtin_fmaf(shares[k], mode == 1 ? soft_light(b, a) : multiply(b, a), b);
        t = t < 1 ? t : 1;
        colors[k] = t > 0 ? t : 0;
    }
}

/* Paint pixels of several layers; positions and lookups follow one another, and weights, which
   are 0 for a layer without a mask. */
void blend(long height, long width, int side, int layers, const int *modes, const int *entries,
           const float *opacities, const float **weights, const float **positions,
           const float **lookups, const float *decode, int decoded, const uint8_t *encode, int brightest,
           uint8_t *rgb) {
    long n = width * side;
    int32_t *at = malloc((n + 64) * sizeof *at);
    float *part = malloc((n + 64) * sizeof *part), *above = malloc((3 * n + 64) * sizeof *above);
    float *shares = malloc((3 * n + 64) * sizeof *shares);
    float *colors = malloc((3 * n + 64) * sizeof *colors);
    float *light = malloc(side * (3 * n + 64) * sizeof *light);
    float scale = (float)(decoded - 1), share = 1.0f / (float)(side * side);
    int last = decoded - 2;
    for (long j = 0; j < height; j++) {
        for (int v = 0; v < side; v++) {
            long row = (j * side + v) * n;
            for (int k = 0; k < layers; k++) {
                const float *position = positions[k] + row;
                const float *own = weights[k] ? weights[k] + row : 0;
#define LAYER(mode, own)                                                                       \
    layer(mode, n, entries[k], position, lookups[k], opacities[k], own, colors, at, part, above, \
          shares)
                if (modes[k] == 0) LAYER(0, 0);
                else if (modes[k] == 1 && own) LAYER(1, own);
                else if (modes[k] == 1) LAYER(1, 0);
                else if (own) LAYER(2, own);
                else LAYER(2, 0);
            }
            float *to = light + v * 3 * n;
            for (long k = 0; k < 3 * n; k++) {
                float t = colors[k] * scale;
                int at = (int)t;
                at = at < last ? at : last;
                to[k] = __builtin_fmaf(t - (float)at, decode[at + 1] - decode[at], decode[at]);
            }
        }
        for (long i = 0; i < width; i++)
            for (int c = 0; c < 3; c++) {
                float sum = 0;
                for (int v = 0; v < side; v++)
                    for (int u = 0; u < side; u++) sum += light[v * 3 * n + 3 * (i * side + u) + c];
                float level = __builtin_fmaf(sum * share, (float)brightest, 0.5f);
                rgb[3 * (j * width + i) + c] = encode[(int)level];
            }
    }
    free(at), free(part), free(above), free(shares), free(colors), free(light);
}
