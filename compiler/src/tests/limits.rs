//! Large policies.
//!
//! INVARIANT: work grows with the policy, and what is too large is an error.

use super::{good, told};

#[test]
fn bounded() {
    let members: Vec<String> = (0..2000).map(|n| format!("\"./a{n}\"")).collect();
    let rules: String = (0..600).map(|n| format!("guard g{n} on x {{ deny path @l }}\n")).collect();
    let text = format!("list l is {}\n{rules}", members.join(", "));
    assert_eq!(told(&text).first().map(|(c, _)| c.clone()).as_deref(), Some("too-large"));
}

/// Work grows with the policy, not with its square.
#[test]
fn many_rules() {
    let rules: String = (0..5_000)
        .map(|n| format!("rule r{n} on t{n}, bash {{ allow path \"./a{n}/**\" ask run `p{n} x` }}\n"))
        .collect();
    let start = std::time::Instant::now();
    let policy = good(&rules);
    assert_eq!(policy.blocks.len(), 5_000);
    assert!(start.elapsed().as_secs() < 30);
}

/// Nothing that can be written many times costs the square of it.
#[test]
fn many_of_everything() {
    let many = |make: &dyn Fn(usize) -> String| (0..4_000).map(make).collect::<String>();
    let texts = [
        many(&|n| format!("guard g{n} on x {{ deny }}\nset g{n} to off because \"x\"\n")),
        many(&|n| format!("set g{n} to off because \"x\"\n")),
        many(&|n| {
            format!(
                "guard g{n} on x {{ deny }}\nexception e{n} to g{n} {{ owner \"a\" until 2027-01-01 because \"b\" open }}\n"
            )
        }),
        many(&|n| format!("guard g{n} on @u{n} {{ deny }}\n")),
        many(&|n| format!("exception e{n} to g{n} {{ owner \"a\" until 2027-01-01 because \"b\" open }}\n")),
        format!("guard g on x {{ {} }}", many(&|n| format!("only arg a{n} \"x\"\n"))),
        format!("guard g on x {{ {} }}", many(&|_| "ask path \"./x\"\n".to_owned())),
        many(&|n| {
            format!("project \"./p{n}\" {{ guard g on x {{ deny }} rule r on x {{ otherwise ask }} }}\n")
        }),
        many(&|n| format!("rule r{n} on x{n} {{ otherwise ask expect ask x{n} {{}} }}\n")),
    ];
    for text in texts {
        let start = std::time::Instant::now();
        let told = told(&text);
        let begin: String = text.chars().take(40).collect();
        println!("{begin:?} {:?} {}", start.elapsed(), told.len());
        assert!(start.elapsed().as_secs() < 40, "{begin}");
    }
}
