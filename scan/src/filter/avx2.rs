//! The filter with AVX2: 16 positions and 16 buckets at a time.
//!
//! INVARIANT: the only unsafe code of the crate. It loads from arrays of known size, and it runs AVX2 instructions only
//! with a [`Token`], which exists only where the processor said it has them.

use super::Batch;
use crate::layout::WINDOW;
use crate::section::Section;
use std::arch::x86_64::{
    __cpuid, __cpuid_count, __m256i, _mm_loadu_si128, _mm256_alignr_epi8, _mm256_and_si256,
    _mm256_broadcastsi128_si256, _mm256_cmpeq_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
    _mm256_set1_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16, _xgetbv,
};
use std::sync::atomic::{AtomicU8, Ordering};

/// Proof that the processor has AVX2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token(());

/// 0: nobody asked, 1: no, 2: yes.
static ASKED: AtomicU8 = AtomicU8::new(if cfg!(target_feature = "avx2") { 2 } else { 0 });

/// The answer, if somebody asked.
pub(super) fn known() -> Option<Option<Token>> {
    match ASKED.load(Ordering::Relaxed) {
        0 => None,
        answer => Some((answer == 2).then_some(Token(()))),
    }
}

/// Asks the processor, once a process.
///
/// The two questions that matter, where the standard library would ask ten.
pub(super) fn ask() -> Option<Token> {
    known().unwrap_or_else(|| {
        let has = has_avx2();
        ASKED.store(1 + u8::from(has), Ordering::Relaxed);
        has.then_some(Token(()))
    })
}

#[expect(unsafe_code, reason = "an instruction that not every processor has")]
fn has_avx2() -> bool {
    const AVX_AND_SAVED: u32 = 1 << 28 | 1 << 27;
    let leaf1 = __cpuid(1);
    if leaf1.ecx & AVX_AND_SAVED != AVX_AND_SAVED {
        return false;
    }
    // SAFETY: the bit 27 of the first leaf says that the instruction exists and the system allows it.
    let saved = unsafe { _xgetbv(0) };
    // A processor with AVX has leaf 13, hence leaf 7: there is no need to ask for the last leaf.
    saved & 6 == 6 && __cpuid_count(7, 0).ebx >> 5 & 1 == 1
}

/// Like the scalar path, up to the last whole vector or a full batch; returns where it stopped.
#[expect(unsafe_code, reason = "a call that needs a feature of the processor")]
pub(super) fn fill(
    _: Token,
    section: &Section<'_>,
    text: &[u8],
    from: usize,
    to: usize,
    batch: &mut Batch,
) -> usize {
    // SAFETY: the token says that the processor has AVX2, which is all that the function needs.
    unsafe { fill_avx2(section, text, from, to, batch) }
}

#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "a load through a pointer")]
fn load(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: the array has the 16 bytes that are read, and the load needs no alignment.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "a load through a pointer")]
fn load_mask(bytes: &[u8; 32]) -> __m256i {
    // SAFETY: the array has the 32 bytes that are read, and the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// Vectors of one block.
const BLOCK: usize = 32;
/// Most candidates of a block.
pub(super) const MOST_OF_A_BLOCK: usize = 16 * BLOCK;

/// Both halves of a vector look at the same 16 bytes, each for eight of the buckets. What the four bytes of a window say
/// of its buckets is shifted so that all four stand where the fourth byte is.
///
/// The masks of a block are gathered first and looked at then, without a branch on whether a vector has any: which have
/// is as good as random, and a branch that is guessed wrong costs more than the block's arithmetic.
#[target_feature(enable = "avx2")]
fn fill_avx2(section: &Section<'_>, text: &[u8], from: usize, to: usize, batch: &mut Batch) -> usize {
    let Some(part) = text.get(from..to.saturating_add(WINDOW - 1).min(text.len())) else { return to };
    let [l0, l1, l2, l3, h0, h1, h2, h3] = section.masks;
    let (l0, l1, l2, l3) = (load_mask(l0), load_mask(l1), load_mask(l2), load_mask(l3));
    let (h0, h1, h2, h3) = (load_mask(h0), load_mask(h1), load_mask(h2), load_mask(h3));
    let (low_bits, zero) = (_mm256_set1_epi8(15), _mm256_setzero_si256());
    // Zeros stand for what is before the part, so that no window begins there.
    let (mut before0, mut before1, mut before2) = (zero, zero, zero);
    let (vectors, _) = part.as_chunks::<16>();
    let mut done = 0;
    for block in vectors.chunks(BLOCK) {
        let mut gathered = [0u32; BLOCK];
        let mut count = 0;
        for (number, vector) in block.iter().enumerate() {
            let bytes = load(vector);
            let low = _mm256_and_si256(bytes, low_bits);
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes), low_bits);
            let of = |l, h| _mm256_and_si256(_mm256_shuffle_epi8(l, low), _mm256_shuffle_epi8(h, high));
            let (r0, r1, r2, r3) = (of(l0, h0), of(l1, h1), of(l2, h2), of(l3, h3));
            let buckets = _mm256_and_si256(
                _mm256_and_si256(
                    _mm256_alignr_epi8::<13>(r0, before0),
                    _mm256_alignr_epi8::<14>(r1, before1),
                ),
                _mm256_and_si256(_mm256_alignr_epi8::<15>(r2, before2), r3),
            );
            (before0, before1, before2) = (r0, r1, r2);
            let none = _mm256_movemask_epi8(_mm256_cmpeq_epi8(buckets, zero)) as u32;
            let bits = (!none | !none >> 16) & 0xFFFF;
            if let Some(slot) = gathered.get_mut(count) {
                *slot = (number as u32) << 16 | bits;
                count += usize::from(bits != 0);
            }
        }
        for slot in gathered.iter().take(count) {
            let mut bits = slot & 0xFFFF;
            while bits != 0 {
                // The window ends at this byte.
                let end = done + (slot >> 16 << 4) as usize + bits.trailing_zeros() as usize + 1;
                bits &= bits - 1;
                let start = end.wrapping_sub(WINDOW);
                if let Some(bytes) = part.get(start..end).and_then(|bytes| bytes.first_chunk()) {
                    batch.push(from + start, section.has(u32::from_le_bytes(*bytes)));
                }
            }
        }
        done += 16 * block.len();
        if batch.room() < MOST_OF_A_BLOCK {
            break;
        }
    }
    from + done.saturating_sub(WINDOW - 1)
}
