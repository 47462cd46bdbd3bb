//! A fast 64-bit checksum (the XXH64 algorithm) for the table and for its hashed names.
//!
//! INVARIANT: it finds accidents, not attackers; nothing relies on it for memory safety.

const P1: u64 = 0x9E37_79B1_85EB_CA87;
const P2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const P3: u64 = 0x1656_67B1_9E37_79F9;
const P4: u64 = 0x85EB_CA77_C2B2_AE63;
const P5: u64 = 0x27D4_EB2F_1656_67C5;

fn round(lane: u64, input: u64) -> u64 {
    lane.wrapping_add(input.wrapping_mul(P2)).rotate_left(31).wrapping_mul(P1)
}

fn merge(sum: u64, lane: u64) -> u64 {
    (sum ^ round(0, lane)).wrapping_mul(P1).wrapping_add(P4)
}

/// XXH64 of `bytes` with seed 0.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u64 {
    let (blocks, tail) = bytes.as_chunks::<32>();
    let mut sum = P5;
    if !blocks.is_empty() {
        let (mut a, mut b, mut c, mut d) = (P1.wrapping_add(P2), P2, 0, 0u64.wrapping_sub(P1));
        for block in blocks {
            let (words, _) = block.as_chunks::<8>();
            if let [w, x, y, z] = words {
                a = round(a, u64::from_le_bytes(*w));
                b = round(b, u64::from_le_bytes(*x));
                c = round(c, u64::from_le_bytes(*y));
                d = round(d, u64::from_le_bytes(*z));
            }
        }
        sum = a.rotate_left(1);
        sum = sum
            .wrapping_add(b.rotate_left(7))
            .wrapping_add(c.rotate_left(12))
            .wrapping_add(d.rotate_left(18));
        sum = [a, b, c, d].into_iter().fold(sum, merge);
    }
    sum = sum.wrapping_add(bytes.len() as u64);
    let (words, tail) = tail.as_chunks::<8>();
    for word in words {
        sum ^= round(0, u64::from_le_bytes(*word));
        sum = sum.rotate_left(27).wrapping_mul(P1).wrapping_add(P4);
    }
    let (halves, tail) = tail.as_chunks::<4>();
    for half in halves {
        sum ^= u64::from(u32::from_le_bytes(*half)).wrapping_mul(P1);
        sum = sum.rotate_left(23).wrapping_mul(P2).wrapping_add(P3);
    }
    for &byte in tail {
        sum ^= u64::from(byte).wrapping_mul(P5);
        sum = sum.rotate_left(11).wrapping_mul(P1);
    }
    sum = (sum ^ (sum >> 33)).wrapping_mul(P2);
    sum = (sum ^ (sum >> 29)).wrapping_mul(P3);
    sum ^ (sum >> 32)
}

#[cfg(test)]
mod tests {
    use super::checksum;

    #[test]
    fn known_values() {
        assert_eq!(checksum(b""), 0xEF46_DB37_51D8_E999);
        assert_eq!(checksum(b"a"), 0xD24E_C4F1_A98C_6E5B);
        assert_eq!(checksum(b"abc"), 0x44BC_2CF5_AD77_0999);
        assert_eq!(checksum(b"Nobody inspects the spammish repetition"), 0xFBCE_A83C_8A37_8BF1);
    }
}
