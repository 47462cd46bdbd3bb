//! Patterns and values of any number: the same number gives the same ones.
//!
//! INVARIANT: values have the same length at every number of patterns, so that times per value can be compared.

/// A small random number generator (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % n
    }

    fn pick(&mut self, of: &[&'static str]) -> &'static str {
        of[self.below(of.len())]
    }
}

/// What the patterns are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Names of tools.
    Tool,
    /// Hosts.
    Domain,
    /// Paths of all shapes.
    Path,
    /// Text globs over commands.
    Command,
    /// `**/a/**/b/**` alone.
    TwoFolders,
    /// Thousands that share their beginnings and their folders.
    Shared,
}

impl Kind {
    /// All, in the order of the tables.
    pub const ALL: [Kind; 6] =
        [Kind::Tool, Kind::Domain, Kind::Path, Kind::Command, Kind::TwoFolders, Kind::Shared];

    /// The word in tables and arguments.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Tool => "tool",
            Kind::Domain => "domain",
            Kind::Path => "path",
            Kind::Command => "command",
            Kind::TwoFolders => "two-folders",
            Kind::Shared => "shared",
        }
    }

    /// Whether `/` separates.
    pub fn is_path(self) -> bool {
        matches!(self, Kind::Path | Kind::TwoFolders | Kind::Shared)
    }
}

const SYLLABLES: [&str; 26] = [
    "au", "bi", "co", "da", "el", "fi", "ga", "ho", "in", "jo", "ka", "lo", "mi", "no", "or", "pa", "qu",
    "re", "si", "to", "un", "ve", "wa", "xe", "yo", "za",
];
const ENDINGS: [&str; 8] = ["rs", "js", "py", "md", "go", "ts", "sh", "cc"];

/// Word number `i`: eight letters, another one for each `i` below 456,976.
pub fn word(i: usize) -> String {
    let mut rest = (i * 31_337 + 7_919) % 26usize.pow(4);
    let mut out = String::new();
    for _ in 0..4 {
        out.push_str(SYLLABLES[rest % 26]);
        rest /= 26;
    }
    out
}

/// Words that the patterns of a set of `n` are made of.
fn pool(n: usize) -> usize {
    (n * 2).max(64)
}

/// `n` globs.
pub fn patterns(kind: Kind, n: usize) -> Vec<String> {
    let mut random = Random(n as u64 + 1);
    let mut seen = std::collections::HashSet::new();
    let mut out = Vec::new();
    while out.len() < n {
        let glob = pattern(kind, out.len(), &mut random, pool(n));
        if seen.insert(glob.clone()) {
            out.push(glob);
        }
    }
    out
}

fn pattern(kind: Kind, i: usize, random: &mut Random, pool: usize) -> String {
    let (a, b) = (word(random.below(pool)), word(random.below(pool)));
    let ending = random.pick(&ENDINGS);
    let share = random.below(100);
    match (kind, share) {
        (Kind::Tool, ..50) => format!("{a}_{b}"),
        (Kind::Tool, ..70) => format!("{a}_*"),
        (Kind::Tool, ..85) => format!("*_{a}"),
        (Kind::Tool, _) => format!("{a}__*{b}"),
        (Kind::Domain, ..55) => format!("*.{a}.com"),
        (Kind::Domain, _) => format!("{b}.{a}.com"),
        (Kind::Path, ..25) => format!("**/{a}/**"),
        (Kind::Path, ..45) => format!("/home/me/project/{a}/{b}/**"),
        (Kind::Path, ..50) => format!("**/*.{a}"),
        (Kind::Path, ..60) => format!("**/{a}.{ending}"),
        (Kind::Path, ..75) => format!("/home/me/project/{a}/{b}.{ending}"),
        (Kind::Path, ..84) => format!("/home/me/project/{a}/**/*.{ending}"),
        (Kind::Path, ..90) => format!("**/{a}/**/{b}/*.{ending}"),
        (Kind::Path, ..94) => format!("**/{a}*/**"),
        (Kind::Path, ..97) => format!("**/*{a}*"),
        (Kind::Path, ..99) => format!("/home/me/*/{a}/{b}*.md"),
        (Kind::Path, _) => format!("/home/me/project/{a}/?{b}.md"),
        (Kind::Command, ..50) => format!("{a} {b}*"),
        (Kind::Command, ..60) => format!("{a} *"),
        (Kind::Command, ..75) => format!("*{a}-{b}*"),
        (Kind::Command, ..85) => format!("{a} {b} --{a}"),
        (Kind::Command, ..95) => format!("{a} * --{b}*"),
        (Kind::Command, _) => format!("*{a}*|*{b}*"),
        (Kind::TwoFolders, _) => format!("**/{a}/**/{b}/**"),
        (Kind::Shared, ..50) => format!("**/project/**/{}/*.{ending}", word(i)),
        (Kind::Shared, _) => format!("/home/me/project/shared/beginning/{}/**", word(i)),
    }
}

/// Values of a set: each round of a race looks other ones up.
pub const VALUES: usize = 4096;

/// Values of which about half of the words stand in patterns.
pub fn values(kind: Kind, n: usize) -> Vec<String> {
    let mut random = Random(n as u64 + 99);
    let pool = pool(n);
    (0..VALUES).map(|_| value(kind, &mut random, pool, n)).collect()
}

fn value(kind: Kind, random: &mut Random, pool: usize, n: usize) -> String {
    let mut some = || match random.below(2) {
        0 => word(random.below(pool)),
        _ => word(pool + random.below(1000)),
    };
    match kind {
        Kind::Tool => format!("{}_{}", some(), some()),
        Kind::Domain => format!("{}.{}.com", some(), some()),
        Kind::Path | Kind::TwoFolders => {
            let folders = format!("/home/me/project/{}/{}/{}", some(), some(), some());
            format!("{folders}/{}.{}", some(), random.pick(&ENDINGS))
        }
        Kind::Command => {
            let head = format!("{} {} {} --{}", some(), some(), some(), some());
            format!("{head} {} {} {}-{}", some(), some(), some(), some())
        }
        Kind::Shared => {
            let at = word(random.below(n));
            let folder = word(random.below(n));
            format!("/home/me/project/shared/beginning/{at}/project/{folder}/x.{}", random.pick(&ENDINGS))
        }
    }
}

/// What a line of a policy says; one after the other.
const VERBS: [&str; 3] = ["allow", "ask", "deny"];

/// A policy with these patterns: one rule with a line each, or for tools three rules that list them.
pub fn policy(kind: Kind, n: usize) -> String {
    let globs = patterns(kind, n);
    let mut out = String::from("policy \"bench\" language 1\n\ndefault ask\n");
    if kind == Kind::Tool {
        for (i, verb) in VERBS.iter().enumerate() {
            let own: Vec<String> =
                globs.iter().skip(i).step_by(3).map(|glob| format!("\"{glob}\"")).collect();
            out += &format!("\nrule tools-{verb} on {} {{\n  otherwise {verb}\n}}\n", own.join(", "));
        }
        return out;
    }
    let (tools, subject) = match kind {
        Kind::Domain => ("@std/fetchers", "domain"),
        Kind::Command => ("@std/shells", "command"),
        _ => ("@std/readers, @std/writers", "path"),
    };
    out += &format!("\nrule {} on {tools} {{\n", kind.word());
    for (glob, verb) in globs.iter().zip(VERBS.iter().cycle()) {
        out += &format!("  {verb} {subject} \"{glob}\"\n");
    }
    out + "}\n"
}

/// A policy with a rule or guard for each number, of all kinds, on the few tools that people write.
pub fn rules(n: usize) -> String {
    let mut out = String::from("policy \"rules\" language 1\n\ndefault ask\n");
    for i in 0..n {
        let (a, b) = (word(i), word(i + 1));
        out += &match i % 4 {
            0 => format!(
                "\nrule r{i} on write_file {{\n  allow path \"./{a}/**\"\n  deny  path \"**/{b}.key\"\n}}\n"
            ),
            1 => format!(
                "\nrule r{i} on bash {{\n  allow run `{a} build`\n  deny  run `{a} push --force`\n}}\n"
            ),
            2 => format!("\nrule r{i} on WebFetch {{\n  allow domain \"{a}.example.com\"\n}}\n"),
            _ => format!("\nguard r{i} on bash {{\n  deny run `{a} {b} -f`\n}}\n"),
        };
    }
    out
}
