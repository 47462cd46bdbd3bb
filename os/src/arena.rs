//! Memory of a process that lives for one answer: taken from one piece, given back with the process.
//!
//! INVARIANT: the piece is bounded; what does not fit, and everything behind it, comes from the system and is given back to
//! it, so that a process that lives on does not grow.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of the piece. Pages that are not touched cost nothing.
const BYTES: usize = 1 << 20;
/// What the piece is aligned to.
const ALIGN: usize = 4096;

/// The allocator: `#[global_allocator] static MEMORY: Arena = Arena::new();`.
#[derive(Debug)]
pub struct Arena {
    piece: Piece,
    /// How much of it is taken.
    taken: AtomicUsize,
    /// How much of it was ever taken: what lies behind still has the zeros it began with.
    used: AtomicUsize,
}

#[derive(Debug)]
#[repr(align(4096))]
struct Piece(UnsafeCell<[u8; BYTES]>);

// SAFETY: the bytes of the piece are only ever reached through blocks that were handed out, each to one owner; which
// bytes those are is decided by an atomic number.
#[expect(unsafe_code, reason = "see above")]
unsafe impl Sync for Arena {}

impl Arena {
    /// All of it free.
    #[must_use]
    pub const fn new() -> Arena {
        Arena {
            piece: Piece(UnsafeCell::new([0; BYTES])),
            taken: AtomicUsize::new(0),
            used: AtomicUsize::new(0),
        }
    }

    fn start(&self) -> usize {
        self.piece.0.get() as usize
    }

    /// The place of a block in the piece; none when it is the system's.
    fn place(&self, block: *mut u8) -> Option<usize> {
        (block as usize).checked_sub(self.start()).filter(|place| *place < BYTES)
    }

    /// Takes a block from the piece; also how many of its first bytes may have been used before.
    fn take(&self, layout: Layout) -> Option<(*mut u8, usize)> {
        // The piece itself begins at a page, no more.
        if layout.align() > ALIGN {
            return None;
        }
        let mut taken = self.taken.load(Ordering::Relaxed);
        loop {
            let place = taken.checked_next_multiple_of(layout.align())?;
            let end = place.checked_add(layout.size()).filter(|end| *end <= BYTES)?;
            // ORDER: who takes what another thread gave back sees everything that was done to it.
            match self.taken.compare_exchange_weak(taken, end, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => {
                    let used = self.used.fetch_max(end, Ordering::AcqRel).saturating_sub(place);
                    return Some((self.piece.0.get().cast::<u8>().wrapping_add(place), used));
                }
                Err(now) => taken = now,
            }
        }
    }

    /// Moves the end of the last block, when it is the last.
    fn move_end(&self, from: usize, to: usize) -> bool {
        let moved =
            to <= BYTES && self.taken.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        if moved {
            self.used.fetch_max(to, Ordering::AcqRel);
        }
        moved
    }
}

impl Default for Arena {
    fn default() -> Arena {
        Arena::new()
    }
}

// SAFETY: a block from the piece is aligned (the piece begins at a page), lies inside it and overlaps no other that was
// not given back: `take` moves the end behind it in one atomic step, and the end moves back only over the last block,
// by its owner. All other blocks are the system's and go back to it with their own layout.
#[expect(unsafe_code, reason = "see above")]
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match self.take(layout) {
            Some((block, _)) => block,
            // SAFETY: the caller keeps to what it promised us.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match self.place(block) {
            Some(place) => {
                self.move_end(place + layout.size(), place);
            }
            // SAFETY: not from the piece, so it is the system's.
            None => unsafe { System.dealloc(block, layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        match self.take(layout) {
            Some((block, used)) => {
                // Only what was used before: a page that nobody looks at is never made.
                // SAFETY: the block has at least this size and is nobody else's.
                unsafe { block.write_bytes(0, used.min(layout.size())) };
                block
            }
            // SAFETY: the caller keeps to what it promised us.
            None => unsafe { System.alloc_zeroed(layout) },
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Some(place) = self.place(block) else {
            // SAFETY: not from the piece, so it is the system's.
            return unsafe { System.realloc(block, layout, size) };
        };
        let end = place + layout.size();
        if size <= layout.size() || self.move_end(end, place.saturating_add(size)) {
            return block;
        }
        // SAFETY: the caller promises a size that is not 0 and fits with the alignment.
        let new = unsafe { self.alloc(Layout::from_size_align_unchecked(size, layout.align())) };
        if !new.is_null() {
            // SAFETY: both are ours, apart, and at least as long as the old one.
            unsafe { std::ptr::copy_nonoverlapping(block, new, layout.size()) };
            // SAFETY: the caller gives the old block up.
            unsafe { self.dealloc(block, layout) };
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::{Arena, BYTES};
    use std::alloc::{GlobalAlloc, Layout};

    #[test]
    #[expect(unsafe_code, reason = "what is tested is called so")]
    fn blocks_do_not_overlap_and_large_ones_are_the_systems() {
        static ARENA: Arena = Arena::new();
        let arena = &ARENA;
        let layout = |size| Layout::from_size_align(size, 16).unwrap();
        // SAFETY: each block is used as long as its layout says, and given back once.
        unsafe {
            let a = arena.alloc(layout(10));
            let b = arena.alloc(layout(10));
            assert!(
                arena.place(a).is_some() && b as usize >= a as usize + 10 && (b as usize).is_multiple_of(16)
            );
            a.write_bytes(1, 10);
            b.write_bytes(2, 10);
            let grown = arena.realloc(b, layout(10), 1000);
            assert_eq!(grown, b, "the last block grows where it is");
            let moved = arena.realloc(a, layout(10), 1000);
            assert_eq!((*moved, *moved.add(9), *grown), (1, 1, 2));
            let large = arena.alloc(layout(BYTES));
            assert!(arena.place(large).is_none() && !large.is_null());
            arena.dealloc(large, layout(BYTES));
            arena.dealloc(moved, layout(1000));
            let zeroed = arena.alloc_zeroed(layout(1000));
            assert!((0..1000).all(|i| *zeroed.add(i) == 0));
        }
    }
}
