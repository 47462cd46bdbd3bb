//! Tells dangerous commands of a transcript apart, after the fact.
//!
//! INVARIANT: words decide, after quotes are taken off; texts in quotes count only where a program runs or sends them. This only
//! reports; decisions before a call are the policy's.

/// What the simple commands of a text do that should be looked at.
pub(crate) fn dangers(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    judge(text, &mut found, 0);
    found
}

struct Simple {
    words: Vec<String>,
    /// Does it read from the command before?
    piped: bool,
}

fn judge(text: &str, found: &mut Vec<String>, nested: u32) {
    let mut fetches = false;
    for command in split(text) {
        let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
        let words = unwrapped(&words);
        let Some((program, rest)) = words.split_first() else { continue };
        let name = program.rsplit('/').next().unwrap_or(program);
        if command.piped && fetches && is_shell(name) {
            found.push("a shell with text from the network".to_owned());
        }
        fetches = matches!(name, "curl" | "wget") || (command.piped && fetches && !is_shell(name));
        if nested < 4 {
            let flag = rest
                .iter()
                .position(|word| word.starts_with('-') && word.ends_with('c') && !word.starts_with("--"));
            if is_shell(name)
                && let Some(inner) = flag.and_then(|flag| rest.get(flag + 1))
            {
                judge(inner, found, nested + 1);
            }
            if name == "ssh" && rest.len() >= 2 {
                let inner = rest
                    .iter()
                    .skip_while(|word| word.starts_with('-'))
                    .skip(1)
                    .copied()
                    .collect::<Vec<_>>()
                    .join(" ");
                judge(&inner, found, nested + 1);
            }
            if name == "eval" {
                judge(&rest.join(" "), found, nested + 1);
            }
        }
        if let Some(what) = danger(name, rest) {
            found.push(what);
        }
    }
}

fn is_shell(name: &str) -> bool {
    matches!(
        name,
        "sh" | "bash"
            | "zsh"
            | "dash"
            | "ksh"
            | "fish"
            | "ash"
            | "python"
            | "python3"
            | "perl"
            | "ruby"
            | "node"
    )
}

/// The words without assignments and without programs that only run another.
fn unwrapped<'a, 'w>(words: &'a [&'w str]) -> &'a [&'w str] {
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let name = word.rsplit('/').next().unwrap_or(word);
        let assigns = word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        });
        let wrapper = matches!(
            name,
            "sudo"
                | "doas"
                | "env"
                | "nohup"
                | "time"
                | "exec"
                | "command"
                | "nice"
                | "then"
                | "do"
                | "else"
                | "!"
                | "{"
                | "xargs"
        );
        if assigns || wrapper || (at > 0 && word.starts_with('-')) {
            at += 1;
        } else if name == "timeout" {
            at += 2;
        } else {
            break;
        }
    }
    words.get(at..).unwrap_or(&[])
}

fn danger(name: &str, rest: &[&str]) -> Option<String> {
    let has = |word: &str| rest.contains(&word);
    let short = |letter: char| {
        rest.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    // The words without options.
    let plain: Vec<&str> = rest.iter().copied().filter(|word| !word.starts_with('-')).take(64).collect();
    let pair = |one: &str, two: &[&str]| {
        plain.windows(2).any(|here| matches!(here, [a, b] if *a == one && two.contains(b)))
    };
    let all = |what: &str| Some(what.to_owned());
    match name {
        "rm" if (short('r') || short('R') || has("--recursive"))
            && (short('f') || has("--force") || plain.iter().any(|target| is_root(target))) =>
        {
            plain
                .iter()
                .find(|target| !is_safe(target))
                .map(|target| format!("rm -rf {}", short_text(target)))
        }
        "git" => {
            let sub = plain
                .iter()
                .position(|word| matches!(*word, "push" | "reset" | "clean" | "branch" | "filter-branch"))?;
            match plain.get(sub).copied()? {
                "push"
                    if has("--force")
                        || has("--mirror")
                        || rest.iter().any(|word| {
                            word.starts_with('-') && !word.starts_with("--") && word.contains('f')
                        })
                        || plain.iter().any(|word| word.starts_with('+')) =>
                {
                    all("git push with force")
                }
                "reset" if has("--hard") => all("git reset --hard"),
                "clean" if short('f') || has("--force") => all("git clean -f"),
                "branch"
                    if short('D')
                        && plain.iter().any(|word| {
                            matches!(*word, "main" | "master" | "develop" | "production" | "release")
                        }) =>
                {
                    all("git branch -D of a main branch")
                }
                "filter-branch" => all("git filter-branch"),
                _ => None,
            }
        }
        "terraform" | "tofu" | "terragrunt" | "pulumi" | "cdk" if has("destroy") || has("-destroy") => {
            Some(format!("{name} destroy"))
        }
        "terraform" | "tofu" | "terragrunt"
            if has("apply") && (has("-auto-approve") || has("--auto-approve")) =>
        {
            Some(format!("{name} apply without a question"))
        }
        "kubectl" | "oc"
            if pair("delete", &["namespace", "namespaces", "ns", "pv", "pvc", "node", "crd"])
                || (has("delete") && has("--all")) =>
        {
            Some(format!("{name} delete"))
        }
        "helm" if has("uninstall") || has("delete") => all("helm uninstall"),
        "gcloud" | "az" | "doctl" | "heroku" | "fly" | "flyctl" | "gsutil" | "bq"
            if plain.iter().any(|word| {
                matches!(*word, "delete" | "destroy" | "purge")
                    || word.ends_with(":destroy")
                    || word.ends_with(":delete")
            }) =>
        {
            Some(format!("{name} delete"))
        }
        "aws"
            if plain.iter().any(|word| word.starts_with("delete-") || word.starts_with("terminate-"))
                || pair("s3", &["rb"])
                || (pair("s3", &["rm"]) && has("--recursive")) =>
        {
            all("aws delete")
        }
        "psql" | "mysql" | "mariadb" | "sqlite3" | "sqlcmd" | "mongosh" | "mongo" | "cockroach"
        | "clickhouse-client" => rest.iter().find_map(|word| destructive_sql(word)),
        "dropdb" => all("dropdb"),
        "mkfs" | "wipefs" | "fdisk" | "parted" if name != "fdisk" || !has("-l") => Some(name.to_owned()),
        _ if name.starts_with("mkfs.") => Some(name.to_owned()),
        "dd" if rest.iter().any(|word| word.starts_with("of=/dev/") && *word != "of=/dev/null") => {
            all("dd onto a device")
        }
        "chmod" if plain.iter().any(|word| matches!(*word, "777" | "0777" | "a+rwx")) => all("chmod 777"),
        "shutdown" | "reboot" | "halt" | "poweroff" => Some(name.to_owned()),
        "iptables" | "ip6tables" | "nft" if short('F') || has("flush") || short('X') => {
            Some(format!("{name} flush"))
        }
        "ufw" if has("disable") => all("ufw disable"),
        "crontab" if short('r') => all("crontab -r"),
        "docker" | "podman" if pair("system", &["prune"]) || pair("volume", &["rm", "prune"]) => {
            Some(format!("{name} with loss of volumes"))
        }
        "npm" | "yarn" | "pnpm" | "cargo" | "poetry" | "uv" | "flit" | "hatch"
            if has("publish") && !has("--dry-run") =>
        {
            Some(format!("{name} publish"))
        }
        "twine" if has("upload") => all("twine upload"),
        "gem" if has("push") => all("gem push"),
        _ => None,
    }
}

fn short_text(word: &str) -> String {
    word.chars().take(60).collect()
}

fn is_root(target: &str) -> bool {
    matches!(target, "/" | "/*" | "~" | "~/" | "$HOME" | "${HOME}" | "." | ".." | "*")
}

/// Folders that are made anew by the next build.
fn is_safe(target: &str) -> bool {
    let target = target.trim_end_matches('/');
    let base = target.rsplit('/').next().unwrap_or(target);
    let temporary =
        ["/tmp/", "/private/tmp/", "/var/folders/", "$TMPDIR/"].iter().any(|start| target.starts_with(start))
            && !target.contains("..");
    temporary
        || matches!(
            base,
            "node_modules"
                | "__pycache__"
                | ".cache"
                | "dist"
                | "build"
                | ".venv"
                | "venv"
                | ".pytest_cache"
                | "target"
                | ".next"
                | "coverage"
                | "out"
                | ".mypy_cache"
                | ".ruff_cache"
        )
}

fn destructive_sql(text: &str) -> Option<String> {
    let words: Vec<String> = text
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_uppercase)
        .take(400)
        .collect();
    words.windows(2).find_map(|pair| match pair {
        [one, two] if one == "DROP" && matches!(two.as_str(), "TABLE" | "DATABASE" | "SCHEMA") => {
            Some(format!("SQL with {one} {two}"))
        }
        [one, _] if one == "TRUNCATE" => Some("SQL with TRUNCATE".to_owned()),
        [one, _] if one.eq_ignore_ascii_case("dropDatabase") => Some("dropDatabase".to_owned()),
        _ => None,
    })
}

/// The simple commands of a text, with quotes taken off.
fn split(text: &str) -> Vec<Simple> {
    let mut commands: Vec<Simple> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut piped = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (Some('"') | None, '\\') => {
                if let Some(next) = letters.next()
                    && next != '\n'
                {
                    word.get_or_insert_default().push(next);
                }
            }
            (Some(_), _) => word.get_or_insert_default().push(letter),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None, '#') if word.is_none() => while letters.next_if(|letter| *letter != '\n').is_some() {},
            (None, ';' | '|' | '&' | '\n' | '(' | ')' | '`') => {
                words.extend(word.take());
                let double = letters.next_if_eq(&letter).is_some();
                if !words.is_empty() {
                    commands.push(Simple { words: std::mem::take(&mut words), piped });
                }
                piped = letter == '|' && !double;
            }
            (None, _) if letter.is_whitespace() => words.extend(word.take()),
            (None, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    if !words.is_empty() {
        commands.push(Simple { words, piped });
    }
    commands
}
