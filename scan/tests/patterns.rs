//! Patterns as a policy of an organization may have them: shapes that public documentation describes, assignments of
//! keywords, and invented prefixes up to any number.
//!
//! INVARIANT: the same list on every run; no pattern is a secret.

/// Shapes of tokens, from the public documentation of the services.
const SHAPES: &[&str] = &[
    r"\b(?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}\b",
    r"ghp_[0-9A-Za-z]{36}",
    r"gho_[0-9A-Za-z]{36}",
    r"gh[usr]_[0-9A-Za-z]{36}",
    r"github_pat_[0-9A-Za-z_]{82}",
    r"glpat-[0-9A-Za-z_-]{20}",
    r"glptt-[0-9a-f]{40}",
    r"GR1348941[0-9A-Za-z_-]{20}",
    r"[sr]k_live_[0-9A-Za-z]{10,99}",
    r"[sr]k_test_[0-9A-Za-z]{10,99}",
    r"xox[abp]-[0-9A-Za-z-]{20,}",
    r"xapp-[0-9A-Za-z-]{20,}",
    r"https://hooks\.slack\.com/services/T[0-9A-Z]{8,12}/B[0-9A-Z]{8,12}/[0-9A-Za-z]{20,32}",
    r"https://discord(?:app)?\.com/api/webhooks/[0-9]{17,20}/[0-9A-Za-z_-]{60,70}",
    r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY",
    r"AIza[0-9A-Za-z_-]{35}",
    r"ya29\.[0-9A-Za-z_-]{20,}",
    r"sk-ant-[0-9A-Za-z_-]{20,}",
    r"sk-proj-[0-9A-Za-z_-]{20,}",
    r"npm_[0-9A-Za-z]{36}",
    r"pypi-AgEI[0-9A-Za-z_-]{50,}",
    r"dop_v1_[0-9a-f]{64}",
    r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}",
    r"SG\.[0-9A-Za-z_-]{22}\.[0-9A-Za-z_-]{43}",
    r"\bkey-[0-9a-f]{32}\b",
    r"hf_[0-9A-Za-z]{34}",
    r"eyJ[0-9A-Za-z_-]{17,}\.eyJ[0-9A-Za-z_-]{17,}",
    r"EAACEdEose0cBA[0-9A-Za-z]+",
    r"AGE-SECRET-KEY-1[0-9A-Z]{58}",
    r"lin_api_[0-9A-Za-z]{40}",
    r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}",
    r"dckr_pat_[0-9A-Za-z_-]{27}",
    r"[0-9]{8,10}:AA[0-9A-Za-z_-]{33}",
    r"(?:postgres|mysql|mongodb(?:\+srv)?)://[^\s:@/]{1,40}:[^\s:@/]{3,80}@",
    r"AccountKey=[0-9A-Za-z+/]{86}==",
    r"[0-9]{1,20}-[0-9a-z]{32}\.apps\.googleusercontent\.com",
    r"NRAK-[0-9A-Z]{27}",
    r"hvs\.[0-9A-Za-z_-]{90,120}",
    r"(?m)^machine [^\s]{1,60} login [^\s]{1,60} password [^\s]{3,60}$",
    r"PuTTY-User-Key-File-[23]: ",
];

/// Assignments of a keyword, in any case.
const ASSIGNMENTS: &[&str] = &[
    r#"(?i)api[_-]?key['"]?\s*[:=]\s*['"][0-9a-z]{16,}"#,
    r#"(?i)secret['"]?\s*[:=]\s*['"][0-9a-z_/+=-]{16,64}['"]"#,
    r#"(?i)token['"]?\s*[:=]\s*['"][0-9a-z_/+=-]{16,64}['"]"#,
    r#"(?i)passw(?:or)?d['"]?\s*[:=]\s*['"][^'"\n]{8,64}['"]"#,
    r#"(?i)credentials?['"]?\s*[:=]\s*['"][0-9a-z_/+=-]{16,64}['"]"#,
    r#"(?i)aws_secret_access_key['"]?\s*[:=]\s*['"]?[0-9a-z/+]{40}\b"#,
    r#"(?i)private[_-]?key['"]?\s*[:=]\s*['"][0-9a-z_/+=-]{16,64}['"]"#,
    r#"(?i)authorization:\s*bearer\s+[0-9a-z._~+/-]{20,}"#,
];

/// The list, filled with invented prefixes up to `count`.
pub(crate) fn patterns(count: usize) -> Vec<String> {
    let mut all: Vec<String> = SHAPES.iter().chain(ASSIGNMENTS).map(|text| (*text).to_string()).collect();
    let starts = ["zx", "qk", "vt", "wl", "tk", "px"];
    let letters = b"abcdefghijklmnopqrstuvwxyz";
    for number in 0..count.saturating_sub(all.len()) {
        let word: String = (1..4u32)
            .map(|place| {
                let mixed = (number as u32 + 11).wrapping_mul(2_654_435_761).rotate_left(place * 7);
                char::from(letters.get(mixed as usize % letters.len()).copied().unwrap_or(b'a'))
            })
            .collect();
        let start = starts.get(number % starts.len()).copied().unwrap_or("zx");
        all.push(format!("{start}{word}{}_[0-9A-Za-z]{{32}}", number / starts.len()));
    }
    all.truncate(count);
    all
}

/// The literals that every match begins with, in lower case: what another tool would look for first.
#[allow(dead_code)]
pub(crate) fn literals(pattern: &str) -> Vec<Vec<u8>> {
    let tree = regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build().parse(pattern);
    let Ok(tree) = tree else { return Vec::new() };
    let sequence = regex_syntax::hir::literal::Extractor::new().extract(&tree);
    let mut all: Vec<_> =
        sequence.literals().unwrap_or_default().iter().map(|l| l.as_bytes().to_vec()).collect();
    // A long literal is cut where the choices behind it begin.
    all.iter_mut().for_each(|literal| literal.make_ascii_lowercase());
    let common = all.iter().fold(all.first().cloned().unwrap_or_default(), |common: Vec<u8>, literal| {
        common.iter().zip(literal).take_while(|(a, b)| a == b).map(|(byte, _)| *byte).collect()
    });
    if common.len() >= 3 {
        return vec![common];
    }
    all.sort();
    all.dedup();
    all.retain(|literal| literal.len() >= 3);
    all
}
