/* Vectors of REAL_BITS-bit numbers in VECTOR_BITS-bit registers: the few operations limit.c needs.

   vec     LANES real numbers          ivec    LANES integers of the same size
   mask    a truth value for each lane; bits() makes an integer of it, lane 0 in bit 0

   AVX-512 has registers for masks, and compresses and expands within a register. With AVX2 a mask
   is a vector whose lanes are all ones or all zeros, and tables of permutations move the lanes. */

#include <immintrin.h>
#include <pmmintrin.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))
#define LANES (VECTOR_BITS / REAL_BITS)
#define EVERY ((1u << LANES) - 1)

#if REAL_BITS == 64
typedef double real;
typedef int64_t integer;
#else
typedef float real;
typedef int32_t integer;
#endif

/* F(add) is the intrinsic that adds vectors of reals, I(add) the one for vectors of integers. */
#if VECTOR_BITS == 512 && REAL_BITS == 64
typedef __m512d vec;
typedef __mmask8 mask;
#define F(name) _mm512_##name##_pd
#define I(name) _mm512_##name##_epi64
#define LESS_EQUAL _mm512_cmp_pd_mask
#define ILESS _mm512_cmplt_epi64_mask
#elif VECTOR_BITS == 512
typedef __m512 vec;
typedef __mmask16 mask;
#define F(name) _mm512_##name##_ps
#define I(name) _mm512_##name##_epi32
#define LESS_EQUAL _mm512_cmp_ps_mask
#define ILESS _mm512_cmplt_epi32_mask
#elif REAL_BITS == 64
typedef __m256d vec;
typedef __m256d mask;
#define F(name) _mm256_##name##_pd
#define I(name) _mm256_##name##_epi64
#define TO_INTEGERS _mm256_castpd_si256
#define TO_REALS _mm256_castsi256_pd
#else
typedef __m256 vec;
typedef __m256 mask;
#define F(name) _mm256_##name##_ps
#define I(name) _mm256_##name##_epi32
#define TO_INTEGERS _mm256_castps_si256
#define TO_REALS _mm256_castsi256_ps
#endif

INLINE vec splat(real a) { return F(set1)(a); }
INLINE vec load(const real *p) { return F(loadu)(p); }
INLINE void store(real *p, vec a) { F(storeu)(p, a); }
INLINE vec add(vec a, vec b) { return F(add)(a, b); }
INLINE vec mul(vec a, vec b) { return F(mul)(a, b); }
INLINE vec fmadd(vec a, vec b, vec c) { return F(fmadd)(a, b, c); }   /*  a * b + c, rounded once */
INLINE vec fmsub(vec a, vec b, vec c) { return F(fmsub)(a, b, c); }   /*  a * b - c */
INLINE vec fnmadd(vec a, vec b, vec c) { return F(fnmadd)(a, b, c); } /* -a * b + c */

#if VECTOR_BITS == 512

typedef __m512i ivec;
INLINE ivec isplat(integer n) { return I(set1)(n); }
INLINE ivec iload(const integer *p) { return _mm512_loadu_si512(p); }
INLINE void istore(integer *p, ivec n) { _mm512_storeu_si512(p, n); }
INLINE ivec iadd(ivec a, ivec b) { return I(add)(a, b); }

INLINE ivec isub(ivec a, ivec b) { return I(sub)(a, b); }
INLINE mask less(ivec a, ivec b) { return ILESS(a, b); }

INLINE vec absolute(vec a) { return F(abs)(a); }
INLINE unsigned bits(mask m) { return m; }
INLINE mask lanes(unsigned bits) { return (mask)bits; }
INLINE mask both(mask a, mask b) { return a & b; }
INLINE mask less_equal(vec a, vec b) { return LESS_EQUAL(a, b, _CMP_LE_OQ); }
INLINE vec blend(mask m, vec a, vec b) { return F(mask_blend)(m, b, a); }
INLINE ivec iblend(mask m, ivec a, ivec b) { return I(mask_blend)(m, b, a); }
INLINE ivec count_one(mask m, ivec n) { return I(mask_add)(n, m, n, isplat(1)); }

static void prepare(void) {}

/* The lanes of a mask moved to the front, and the lanes at p moved to those of a mask. */
INLINE vec compress(unsigned m, vec a) { return F(maskz_compress)((mask)m, a); }
INLINE ivec icompress(unsigned m, ivec n) { return I(maskz_compress)((mask)m, n); }
INLINE vec expand(unsigned m, const real *p, vec other) {
    return F(mask_expand)(other, (mask)m, load(p));
}
INLINE ivec iexpand(unsigned m, const integer *p, ivec other) {
    return I(mask_expand)(other, (mask)m, iload(p));
}

#else

typedef __m256i ivec;
INLINE ivec isplat(integer n) {
#if REAL_BITS == 64
    return _mm256_set1_epi64x(n);
#else
    return _mm256_set1_epi32(n);
#endif
}
INLINE ivec iload(const integer *p) { return _mm256_loadu_si256((const ivec *)p); }
INLINE void istore(integer *p, ivec n) { _mm256_storeu_si256((ivec *)p, n); }
INLINE ivec iadd(ivec a, ivec b) { return I(add)(a, b); }

INLINE ivec isub(ivec a, ivec b) { return I(sub)(a, b); }
INLINE mask less(ivec a, ivec b) { return TO_REALS(I(cmpgt)(b, a)); }

INLINE vec absolute(vec a) { return F(andnot)(splat((real)-0.0), a); }
INLINE unsigned bits(mask m) { return (unsigned)F(movemask)(m); }
INLINE mask both(mask a, mask b) { return F(and)(a, b); }
INLINE mask less_equal(vec a, vec b) { return F(cmp)(a, b, _CMP_LE_OQ); }
INLINE vec blend(mask m, vec a, vec b) { return F(blendv)(b, a, m); }
INLINE ivec iblend(mask m, ivec a, ivec b) {
    return TO_INTEGERS(blend(m, TO_REALS(a), TO_REALS(b)));
}
INLINE ivec count_one(mask m, ivec n) { return I(sub)(n, TO_INTEGERS(m)); }

/* For each mask the permutation of 32-bit parts that brings its lanes to the front, the one that
   brings the front to its lanes, and the mask as a vector. */
static uint32_t to_front[EVERY + 1][8], from_front[EVERY + 1][8], as_vector[EVERY + 1][8];

static void prepare(void) { /* fill them; before anything else */
    const int parts = 8 / LANES;
    for (unsigned m = 0; m <= EVERY; m++)
        for (int lane = 0, rank = 0; lane < LANES; lane++) {
            if (!(m >> lane & 1)) continue;
            for (int part = 0; part < parts; part++) {
                to_front[m][rank * parts + part] = (uint32_t)(lane * parts + part);
                from_front[m][lane * parts + part] = (uint32_t)(rank * parts + part);
                as_vector[m][lane * parts + part] = ~0u;
            }
            rank++;
        }
}
INLINE ivec row(uint32_t table[][8], unsigned m) { return _mm256_loadu_si256((ivec *)table[m]); }
INLINE mask lanes(unsigned bits) { return TO_REALS(row(as_vector, bits)); }
INLINE ivec icompress(unsigned m, ivec n) {
    return _mm256_permutevar8x32_epi32(n, row(to_front, m));
}
INLINE vec compress(unsigned m, vec a) { return TO_REALS(icompress(m, TO_INTEGERS(a))); }
INLINE ivec iexpand(unsigned m, const integer *p, ivec other) {
    return iblend(lanes(m), _mm256_permutevar8x32_epi32(iload(p), row(from_front, m)), other);
}
INLINE vec expand(unsigned m, const real *p, vec other) {
    return TO_REALS(iexpand(m, (const integer *)p, TO_INTEGERS(other)));
}

#endif

/* The first lanes, as bits. */
INLINE unsigned below(long count) {
    return count >= LANES ? EVERY : count <= 0 ? 0 : (1u << count) - 1;
}

/* LANES counts as int32, and LANES norms as float. */
INLINE void store_counts(int32_t *p, ivec n) {
#if REAL_BITS == 32
    istore(p, n);
#elif VECTOR_BITS == 512
    _mm256_storeu_si256((__m256i *)p, _mm512_cvtepi64_epi32(n));
#else
    const ivec even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    n = _mm256_permutevar8x32_epi32(n, even);
    _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(n));
#endif
}
INLINE void store_norms(float *p, vec a) {
#if REAL_BITS == 32
    store(p, a);
#elif VECTOR_BITS == 512
    _mm256_storeu_ps(p, _mm512_cvtpd_ps(a));
#else
    _mm_storeu_ps(p, _mm256_cvtpd_ps(a));
#endif
}
