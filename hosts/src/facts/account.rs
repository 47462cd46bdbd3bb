//! The accounts that commands of a cloud work on, as arguments `account.…`: lines count how many different ones there are.
//!
//! INVARIANT: only what is written; what a profile or a setting on disk leads to is not known.

use policy_grammar::shell::{Command, Part, Word};

/// Flags that name an account, by program; the name of the argument.
const FLAGS: [(&str, &[&str], &str); 9] = [
    ("gcloud", &["--project"], "account.gcloud"),
    ("bq", &["--project_id", "--project"], "account.gcloud"),
    ("gsutil", &["-u"], "account.gcloud"),
    ("aws", &["--profile"], "account.aws"),
    ("sam", &["--profile"], "account.aws"),
    ("cdk", &["--profile"], "account.aws"),
    ("az", &["--subscription"], "account.azure"),
    ("kubectl", &["--context"], "account.kubernetes"),
    ("helm", &["--kube-context"], "account.kubernetes"),
];
/// Words that choose one for what comes later.
const CHOICES: [(&str, &[&str], &str); 3] = [
    ("gcloud", &["config", "set", "project"], "account.gcloud"),
    ("kubectl", &["config", "use-context"], "account.kubernetes"),
    ("kubectx", &[], "account.kubernetes"),
];
/// Variables that do.
const VARIABLES: [(&str, &str); 6] = [
    ("AWS_PROFILE", "account.aws"),
    ("AWS_DEFAULT_PROFILE", "account.aws"),
    ("CLOUDSDK_CORE_PROJECT", "account.gcloud"),
    ("GOOGLE_CLOUD_PROJECT", "account.gcloud"),
    ("ARM_SUBSCRIPTION_ID", "account.azure"),
    ("AZURE_SUBSCRIPTION_ID", "account.azure"),
];

/// Name and value of each account that a command names.
pub(crate) fn accounts(command: &Command) -> Vec<(&'static str, String)> {
    let mut out: Vec<(&'static str, String)> = Vec::new();
    let mut tell = |name: &'static str, value: &str| {
        if !value.is_empty() && out.len() < 16 {
            out.push((name, value.to_owned()));
        }
    };
    for assignment in &command.assignments {
        let known = VARIABLES.iter().find(|(name, _)| *name == assignment.name);
        if let (Some((_, name)), Some(value)) = (known, assignment.value.known()) {
            tell(name, value);
        }
    }
    let Some(program) = command.words.first().and_then(Word::known) else { return out };
    let program = program.rsplit(['/', '\\']).next().unwrap_or_default();
    let mut operands: Vec<&str> = Vec::new();
    let mut flag_before: Option<&str> = None;
    for (word, part) in command.words.iter().zip(&command.parts).skip(1) {
        let Some(text) = word.known() else {
            flag_before = None;
            continue;
        };
        if matches!(program, "export" | "env" | "set" | "declare") {
            if let Some((name, value)) = text.split_once('=')
                && let Some((_, account)) = VARIABLES.iter().find(|(known, _)| *known == name)
            {
                tell(account, value);
            }
            continue;
        }
        for (_, flags, account) in FLAGS.iter().filter(|(name, ..)| *name == program) {
            let attached = text.split_once('=').filter(|(flag, _)| flags.contains(flag));
            if let Some((_, value)) = attached {
                tell(account, value);
            } else if flag_before.is_some_and(|flag| flags.contains(&flag)) {
                tell(account, text);
            }
        }
        flag_before = text.starts_with('-').then_some(text);
        if matches!(part, Part::Operand { .. } | Part::Unclear) {
            operands.push(text);
        }
    }
    for (_, words, account) in CHOICES.iter().filter(|(name, ..)| *name == program) {
        if let Some([value, ..]) = operands.strip_prefix(*words) {
            tell(account, value);
        }
    }
    out
}
