//! Changes of good bytes as other bytes ask for.
//!
//! INVARIANT: any bytes are a list of changes; the same bytes make the same ones.

/// Takes bytes from the front; 0 when there are none.
pub(crate) struct Asked<'a>(pub(crate) &'a [u8]);

impl Asked<'_> {
    pub(crate) fn byte(&mut self) -> usize {
        let Some((first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(*first)
    }

    fn word(&mut self) -> usize {
        self.byte() | self.byte() << 8 | self.byte() << 16
    }

    /// Changes the bytes from `from` on, until nothing more is asked for.
    pub(crate) fn edit(mut self, bytes: &mut Vec<u8>, from: usize) {
        while !self.0.is_empty() {
            let kind = self.byte();
            let at = from + self.word() % (bytes.len() - from).max(1);
            match kind % 8 {
                0 => bytes.truncate(at.max(from + 1)),
                1 => {
                    let value = [0, 1, 2, 255, 4096, u32::MAX, u32::MAX - 1, 1 << 31][self.byte() % 8];
                    put(bytes, at / 4 * 4, &value.to_le_bytes());
                }
                2 => {
                    let other = from + self.word() % (bytes.len() - from).max(1);
                    let (a, b) = (at / 4 * 4, other / 4 * 4);
                    for i in 0..4 {
                        if a.max(b) + i < bytes.len() {
                            bytes.swap(a + i, b + i);
                        }
                    }
                }
                // A number that is near to what was written.
                3 => {
                    let old = bytes.get(at / 4 * 4).copied().unwrap_or(0);
                    put(bytes, at / 4 * 4, &[old.wrapping_add((self.byte() % 16) as u8).wrapping_sub(8)]);
                }
                4 => {
                    let len = self.byte() % 32;
                    let (new, rest) = self.0.split_at(len.min(self.0.len()));
                    put(bytes, at, new);
                    self.0 = rest;
                }
                5 => {
                    let len = self.byte() % 64;
                    let from = self.word() % bytes.len().max(1);
                    let copy: Vec<u8> = bytes.iter().skip(from).take(len).copied().collect();
                    put(bytes, at, &copy);
                }
                _ => {
                    let bit = self.byte() % 8;
                    if let Some(byte) = bytes.get_mut(at) {
                        *byte ^= 1 << bit;
                    }
                }
            }
        }
    }
}

fn put(bytes: &mut [u8], at: usize, new: &[u8]) {
    for (slot, byte) in bytes.iter_mut().skip(at).zip(new) {
        *slot = *byte;
    }
}
