//! Tests of verifying.
//!
//! INVARIANT: no change of a sealed log goes unseen: not of one byte, nor of whole lines; of its end only what is anchored.

use super::*;
use crate::append::append;
use crate::audit::chain::seal;
use crate::testing::Scratch;

const NOBODY: &dyn Fn(&Checkpoint, &[u8]) -> bool = &|_, _| false;

fn found(file: &Path, anchors: &Anchors) -> Report {
    verify(&[file.to_path_buf()], &Against { anchors, alone: false, signature: NOBODY }).unwrap()
}

fn log(scratch: &Scratch, before: &str, lines: u64) -> (PathBuf, Vec<Link>) {
    let file = scratch.file("log.jsonl", before);
    let links = (0..lines).map(|at| {
        append(&file, format!("{{\"tool\":\"T{at}\",\"x\":\"\\u00e4\"}}\n").as_bytes(), Care::Private)
            .unwrap()
    });
    let links = links.collect();
    (file, links)
}

fn with(bytes: &[u8]) -> Report {
    let against = Against { anchors: &Anchors::default(), alone: false, signature: NOBODY };
    let mut walk = Walk::new(&against);
    walk.lines(bytes, Path::new("log"), true).unwrap();
    walk.end(Path::new("log"));
    walk.report
}

#[test]
fn a_log_that_was_left_alone_holds() {
    let scratch = Scratch::new("verify-good");
    let (file, links) = log(&scratch, "", 70);
    let report = found(&file, &Anchors::default());
    assert_eq!((report.count, report.lines, report.old), (0, 70, 0), "{:?}", report.faults);
    assert_eq!((report.first, report.last), (links.first().copied(), links.last().copied()));
    assert_eq!(report.said.unwrap().0, 64);
    assert_eq!((report.anchored, report.signed), (None, None));
}

#[test]
fn every_flipped_byte_is_found() {
    let scratch = Scratch::new("verify-flip");
    for before in ["", "{\"old\":1}\n{\"old\":2}\n", "{\"old\":1}\n{\"cut"] {
        let (file, _) = log(&scratch, before, 3);
        let good = std::fs::read(&file).unwrap();
        let report = with(&good);
        assert_eq!((report.count, report.old_covered), (0, !before.is_empty()), "{:?}", report.faults);
        for at in 0..good.len() {
            for flip in [1, 0x20, 0x80, good[at] ^ b'\n', good[at] ^ b'0', good[at] ^ b'"'] {
                if flip == 0 {
                    continue;
                }
                let mut bytes = good.clone();
                bytes[at] ^= flip;
                assert!(with(&bytes).count > 0, "byte {at} of {before:?}, changed by {flip}");
            }
            // One more and one less.
            let mut bytes = good.clone();
            bytes.remove(at);
            assert!(with(&bytes).count > 0, "without byte {at} of {before:?}");
            let mut bytes = good.clone();
            bytes.insert(at, b' ');
            assert!(with(&bytes).count > 0, "a blank before byte {at} of {before:?}");
        }
    }
}

#[test]
fn lines_that_are_removed_moved_repeated_or_added_are_found() {
    let scratch = Scratch::new("verify-lines");
    let (file, _) = log(&scratch, "", 8);
    let text = std::fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let first_fault = |lines: &[&str]| {
        let report = with((lines.join("\n") + "\n").as_bytes());
        report.faults.into_iter().next().map(|fault| (fault.line, fault.what)).unwrap()
    };
    let without = |at: usize| [&lines[..at], &lines[at + 1..]].concat();
    assert_eq!(
        first_fault(&without(3)),
        (4, "(sequence 5) does not follow: the line with sequence 4 is missing".to_owned())
    );
    assert_eq!(first_fault(&without(0)).0, 1);
    let (line, what) = first_fault(&[&lines[..2], &lines[5..]].concat());
    assert_eq!((line, what.contains("sequences 3 to 5 are missing")), (3, true), "{what}");
    let mut moved = lines.clone();
    moved.swap(4, 5);
    assert_eq!(first_fault(&moved).0, 5);
    let mut repeated = lines.clone();
    repeated.insert(4, lines[3]);
    let (line, what) = first_fault(&repeated);
    assert_eq!((line, what.contains("repeated")), (5, true), "{what}");
    for added in ["{\"tool\":\"x\"}", "", "x"] {
        let mut more = lines.clone();
        more.insert(4, added);
        assert_eq!(first_fault(&more).0, 5, "{added}");
        let mut more = lines.clone();
        more.insert(0, added);
        assert_eq!(first_fault(&more).0, 2, "{added}");
        let mut more = lines.clone();
        more.push(added);
        assert_eq!(first_fault(&more).0, 9, "{added}");
    }
    // A tail of another log.
    let (other, _) = log(&scratch, "", 4);
    let other = std::fs::read_to_string(other).unwrap();
    let (line, what) = first_fault(&[&lines[..4], &other.lines().collect::<Vec<_>>()[..]].concat());
    assert_eq!((line, what.contains("begun anew")), (5, true), "{what}");
    assert_eq!(with(b"").count, 1);
    assert_eq!(with(b"{\"old\":1}\n").count, 1);
    assert!(with(&vec![b'x'; MAX_LINE * 2 + 3]).count > 0);
}

#[test]
fn a_cut_end_is_found_by_an_anchor_behind_it_and_only_then() {
    let scratch = Scratch::new("verify-cut");
    let (file, links) = log(&scratch, "", 10);
    let mut anchors = Anchors::default();
    anchors.add(links[5]);
    let report = found(&file, &anchors);
    assert_eq!((report.count, report.anchored), (0, Some(6)));
    let text = std::fs::read_to_string(&file).unwrap();
    let cut = |lines: usize| text.lines().take(lines).map(|line| format!("{line}\n")).collect::<String>();
    std::fs::write(&file, cut(8)).unwrap();
    assert_eq!(found(&file, &anchors).count, 0, "what no anchor covers cannot be known");
    std::fs::write(&file, cut(5)).unwrap();
    let report = found(&file, &anchors);
    assert_eq!(report.count, 1);
    assert!(report.faults[0].what.contains("sequence 6 is anchored"), "{:?}", report.faults);
    // A chain that was written anew is no less a chain.
    let (file, _) = log(&scratch, "{\"other\":1}\n", 10);
    assert_eq!(found(&file, &Anchors::default()).count, 0);
    let report = found(&file, &anchors);
    assert!(report.faults[0].what.contains("another hash"), "{:?}", report.faults);
}

#[test]
fn logs_that_were_put_aside_are_one_chain_with_the_last() {
    let scratch = Scratch::new("verify-aside");
    let (file, _) = log(&scratch, "{\"old\":1}\n", 5);
    let aside = file.with_file_name("log-000000000001.jsonl");
    std::fs::rename(&file, &aside).unwrap();
    append(&file, b"{\"next\":1}", Care::Private).unwrap();
    append(&file, b"{\"next\":2}", Care::Private).unwrap();
    let anchors = Anchors::default();
    let check = |files: &[PathBuf], alone| {
        verify(files, &Against { anchors: &anchors, alone, signature: NOBODY }).unwrap()
    };
    let both = [aside.clone(), file.clone()];
    let report = check(&both, false);
    assert_eq!((report.count, report.last.unwrap().seq), (0, 7), "{:?}", report.faults);
    assert_eq!(check(&both[1..], false).count, 1, "what came before is not here");
    assert_eq!(check(&both[1..], true).count, 0);
    let text = std::fs::read_to_string(&aside).unwrap();
    std::fs::write(&aside, text.lines().take(4).map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    let report = check(&both, false);
    assert_eq!((report.count, report.faults[0].line), (1, 1));
    assert!(report.faults[0].file.ends_with("log.jsonl"));
}

#[test]
fn a_checkpoint_counts_when_its_signature_is_good() {
    let scratch = Scratch::new("verify-sign");
    let (file, links) = log(&scratch, "", 2);
    let line = checkpoint_line("2026-12-01", links[1], &Checkpoint { key: [1; 32], signature: [2; 64] });
    // Another line may come between.
    append(&file, b"{}", Care::Private).unwrap();
    append(&file, &line, Care::Private).unwrap();
    let want = signed_text(links[1]);
    let anchors = Anchors::default();
    let signature = |checkpoint: &Checkpoint, text: &[u8]| {
        checkpoint.key == [1; 32] && checkpoint.signature == [2; 64] && text == want
    };
    let files = [file];
    let report = verify(&files, &Against { anchors: &anchors, alone: false, signature: &signature }).unwrap();
    assert_eq!((report.count, report.signed), (0, Some(2)));
    let report = verify(&files, &Against { anchors: &anchors, alone: false, signature: NOBODY }).unwrap();
    assert_eq!((report.count, report.signed), (1, None));
}

#[test]
fn flipped_bytes_anywhere_in_a_long_log_are_found_where_they_are() {
    let lines = 100_000;
    let (mut bytes, mut last) = (Vec::new(), Link::START);
    for at in 0..lines {
        let (line, link) = seal(format!("{{\"tool\":\"T{at}\"}}").as_bytes(), "", last);
        bytes.extend_from_slice(&line);
        last = link;
    }
    // Fifty, which is how many are told with their place: each in a stretch of its own, two lines from its ends.
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut flipped = Vec::new();
    let (mut number, mut at) = (0, 0);
    let stretch = lines / MAX_FAULTS;
    while number < lines {
        let length = bytes[at..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let wanted = 2 + (random >> 33) as usize % (stretch - 4);
        let due = flipped.len() * stretch + wanted;
        if number >= due && flipped.len() < number / stretch + 1 {
            let byte = at + (random >> 17) as usize % length;
            bytes[byte] ^= 1 << (random >> 61);
            flipped.push(number as u64 + 1);
        }
        (number, at) = (number + 1, at + length);
    }
    assert_eq!(flipped.len(), MAX_FAULTS);
    let report = with(&bytes);
    for line in &flipped {
        // A changed end of a line makes one of two, and moves what follows.
        let near = |fault: &Fault| (line.saturating_sub(50)..=line + 50).contains(&fault.line);
        assert!(report.faults.iter().any(near), "line {line}: {:?}", report.faults);
    }
    assert!(report.count >= 50);
}

#[test]
fn a_line_that_a_crash_cut_short_is_named_and_the_chain_goes_on_behind_it() {
    let scratch = Scratch::new("verify-torn");
    let (file, _) = log(&scratch, "", 3);
    let good = std::fs::read(&file).unwrap();
    let last = good[..good.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for cut in [last + 1, (last + good.len()) / 2, good.len() - 2] {
        std::fs::write(&file, &good[..cut]).unwrap();
        let report = found(&file, &Anchors::default());
        assert_eq!((report.count, report.last.unwrap().seq), (1, 2), "{:?}", report.faults);
        assert_eq!((report.faults[0].line, report.faults[0].what.as_str()), (3, "is cut off"));
        // The next line ends the torn one, takes its number and says how much stands between.
        let link = append(&file, b"{\"next\":1}", Care::Private).unwrap();
        let report = found(&file, &Anchors::default());
        assert_eq!((link.seq, report.count, report.last), (3, 1, Some(link)), "{:?}", report.faults);
        assert_eq!(report.faults[0].line, 3);
        let text = std::fs::read(&file).unwrap();
        let text = String::from_utf8_lossy(&text);
        let gap = format!("\"gap\":{}", cut - last);
        assert!(text.lines().last().unwrap().contains(&gap), "{gap}: {text}");
    }
    // Of this one all was written but the newline: nothing is lost, and its number is taken.
    std::fs::write(&file, &good[..good.len() - 1]).unwrap();
    assert_eq!(found(&file, &Anchors::default()).faults[0].what, "is cut off");
    assert_eq!(append(&file, b"{}", Care::Private).unwrap().seq, 4);
    let report = found(&file, &Anchors::default());
    assert_eq!((report.count, report.lines), (0, 4), "{:?}", report.faults);
}

/// A key of which the signature is the first bytes of the text's hash, which is enough to tell texts apart.
fn toy(key: u8, text: &[u8]) -> Checkpoint {
    let half = crate::audit::chain::sha256(&[&[key], text].concat());
    let mut signature = [0; 64];
    signature[..32].copy_from_slice(&half);
    Checkpoint { key: [key; 32], signature }
}

fn toy_is_good(by: &Checkpoint, text: &[u8]) -> bool {
    toy(by.key[0], text) == *by
}

fn sign(file: &Path, key: u8, last: Link) -> Link {
    let line = checkpoint_line("2026-12-01", last, &toy(key, &signed_text(last)));
    append(file, &line, Care::Private).unwrap()
}

fn signed(file: &Path) -> Report {
    let anchors = Anchors::default();
    let against = Against { anchors: &anchors, alone: false, signature: &toy_is_good };
    verify(&[file.to_path_buf()], &against).unwrap()
}

#[test]
fn a_checkpoint_that_is_played_again_elsewhere_is_no_good_one() {
    let scratch = Scratch::new("verify-replay");
    let (file, links) = log(&scratch, "", 3);
    let checkpoint = checkpoint_line("t", links[2], &toy(1, &signed_text(links[2])));
    append(&file, &checkpoint, Care::Private).unwrap();
    assert_eq!(signed(&file).signed, Some(3));
    // Again behind other lines: true still, and it covers no more than before.
    append(&file, b"{}", Care::Private).unwrap();
    append(&file, &checkpoint, Care::Private).unwrap();
    let report = signed(&file);
    assert_eq!((report.count, report.signed), (0, Some(3)));
    // In another log with the same numbers.
    let (other, _) = log(&scratch, "{\"other\":1}\n", 3);
    append(&other, &checkpoint, Care::Private).unwrap();
    let report = signed(&other);
    assert_eq!((report.count, report.signed), (1, None));
    assert!(report.faults[0].what.contains("signature is not good"), "{:?}", report.faults);
    // Without its signature, or with that of another line.
    let stripped = String::from_utf8(checkpoint.clone()).unwrap().replace("\"signature\"", "\"was\"");
    let wrong = checkpoint_line("t", links[1], &toy(1, &signed_text(links[2])));
    for line in [stripped.as_bytes(), &wrong] {
        let (file, _) = log(&scratch, "", 3);
        append(&file, line, Care::Private).unwrap();
        assert_eq!((signed(&file).count, signed(&file).signed), (1, None));
    }
}

#[test]
fn what_follows_the_last_checkpoint_is_verified_alone() {
    let scratch = Scratch::new("verify-since");
    let (file, links) = log(&scratch, "", 5);
    let since = |key: u8| verify_since(&file, &[key; 32], &toy_is_good).unwrap();
    assert_eq!(since(1), None, "nothing is signed");
    let first = sign(&file, 1, links[4]);
    append(&file, b"{}", Care::Private).unwrap();
    let second = sign(&file, 2, first);
    assert_eq!(since(3), None);
    let report = since(1).unwrap();
    assert_eq!((report.count, report.first, report.last), (0, Some(links[4]), Some(second)));
    let report = since(2).unwrap();
    assert_eq!((report.count, report.first, report.signed), (0, Some(first), Some(first.seq)));
    // What lies before is not looked at, what lies behind is.
    let good = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, good.replacen("T1", "U1", 1)).unwrap();
    assert_eq!(since(1).unwrap().count, 0);
    assert_eq!(signed(&file).count, 1);
    std::fs::write(&file, good.replacen("T4", "U4", 1)).unwrap();
    assert_eq!(since(1), None, "the line that is covered does not hold");
    let cut: String =
        good.lines().filter(|line| !line.starts_with("{\"seq\":7")).map(|line| format!("{line}\n")).collect();
    std::fs::write(&file, cut).unwrap();
    let report = since(1).unwrap();
    assert_eq!(report.count, 1, "{:?}", report.faults);
}
