//! Command texts: the reader's commands flattened into facts, with the paths and hosts they name.
//!
//! INVARIANT: every word that can be a path has its names, every doubt of the reader is a gap, and a command is plain
//! only when nothing about it is unknown.

use super::path::{MAX_PATH_BYTES, Named, Namer, Raw};
use super::spelling::{HOLE, unescape_glob};
use super::words::{
    Text, inner_texts, is_name, is_remote, joined, names_hidden_files, open_glob, part_fact, path_texts,
    sent_file, texts, value_of, word_fact,
};
use super::{Builder, resolve, url};
use policy_grammar::shell::effects::Peer;
use policy_grammar::shell::{self, Dialect, Dir, Gap, MAX_COMMAND_BYTES};
use policy_runtime::facts::{Access, CommandFact, Form, Origin, Redirect, ScriptFact, Word};

/// Most bytes of command text of one call.
const MAX_TOTAL_BYTES: usize = 4 * MAX_COMMAND_BYTES;
/// Most commands of one call.
const MAX_COMMANDS: usize = 8192;

impl Builder<'_> {
    /// Reads a text as a command that runs in `base`. `gap` is what the call itself makes unknown about it.
    pub(super) fn command(&mut self, text: &str, origin: &Origin, base: &Raw, gap: Option<&str>) {
        if text.len() > MAX_COMMAND_BYTES {
            return self.opaque(origin.clone(), &format!("a command longer than {MAX_COMMAND_BYTES} bytes"));
        }
        if text.contains(['\0', HOLE]) {
            return self.opaque(origin.clone(), "a command with a control character in it");
        }
        // Which shell runs it decides what it means: where that is not known, every reading counts.
        let several = self.tool.dialect == Dialect::Unknown && (self.tool.mixed || self.namer.is_windows());
        let others: &[Dialect] = if several { &[Dialect::PowerShell, Dialect::Cmd] } else { &[] };
        for dialect in std::iter::once(self.tool.dialect).chain(others.iter().copied()) {
            self.command_bytes = self.command_bytes.saturating_add(text.len().max(16));
            if self.command_bytes > MAX_TOTAL_BYTES {
                return self.opaque(Origin::Call, "more command text than is read");
            }
            self.command_in(text, dialect, base, gap);
        }
    }

    /// Reads a text as a command of one shell.
    fn command_in(&mut self, text: &str, dialect: Dialect, base: &Raw, gap: Option<&str>) {
        let does = if self.is_comment(text, dialect) { ":" } else { text };
        let mut analysis = shell::analyze(does, dialect, self.programs);
        analysis.commands.iter_mut().for_each(shell::Command::name_places);
        let problem = match (self.tool.foreign, analysis.problems.first()) {
            (Some(why), _) => why.to_owned(),
            (None, Some(problem)) => format!("{} at {}:{}", problem.message, problem.line, problem.column),
            (None, None) if analysis.complete => String::new(),
            (None, None) => "the command was not understood".to_owned(),
        };
        let Ok(script) = u32::try_from(self.facts.scripts.len()) else { return };
        self.facts.scripts.push(ScriptFact {
            text: text.to_owned(),
            complete: analysis.complete && self.tool.foreign.is_none(),
            problem,
            features: analysis.features,
        });
        let several = analysis.commands.len() > 1;
        let dots = names_hidden_files(text);
        let first = self.facts.commands.len();
        let mut secret: Vec<usize> = Vec::new();
        // The number of each command of the reader among the facts.
        let mut numbers: Vec<Option<u32>> = Vec::with_capacity(analysis.commands.len());
        for mut command in analysis.commands {
            if dots {
                let targets = command.redirects.iter_mut().map(|redirect| &mut redirect.target);
                command.words.iter_mut().chain(targets).for_each(open_glob);
            }
            // `x=1` alone runs nothing; what it changes is told with the commands behind it.
            if several && command.words.is_empty() && command.redirects.is_empty() && command.gaps.is_empty()
            {
                numbers.push(None);
                continue;
            }
            numbers.push(u32::try_from(self.facts.commands.len()).ok());
            if self.facts.commands.len() >= MAX_COMMANDS {
                return self.opaque(Origin::Call, "more commands than are looked at");
            }
            if shell::secret::holds(&command) || shell::secret::prints(&command) {
                secret.push(self.facts.commands.len());
            }
            let unset = super::unset::reading(&command);
            self.one(command, script, base, gap);
            if let Some(unset) = unset.filter(|_| self.facts.commands.len() < MAX_COMMANDS) {
                self.one(unset, script, base, gap);
            }
        }
        self.flows(first, &numbers, &secret);
    }

    /// Only comments: the text does what `:` does.
    fn is_comment(&self, text: &str, dialect: Dialect) -> bool {
        let mut lines = text
            .lines()
            .map(|line| line.trim_matches([' ', '\t']))
            .filter(|line| !line.is_empty())
            .peekable();
        let shell = !matches!(dialect, Dialect::PowerShell | Dialect::Cmd);
        shell
            && self.tool.foreign.is_none()
            && lines.peek().is_some()
            && lines.all(|line| line.starts_with('#'))
    }

    fn one(&mut self, command: shell::Command, script: u32, call: &Raw, gap: Option<&str>) {
        let windows = command.windows;
        let before = windows.then(|| self.namer.read_as_windows(true));
        self.one_of(command, script, call, gap);
        if let Some(before) = before {
            self.namer.read_as_windows(before);
        }
    }

    fn one_of(&mut self, command: shell::Command, script: u32, call: &Raw, gap: Option<&str>) {
        let Ok(index) = u32::try_from(self.facts.commands.len()) else { return };
        let origin = Origin::Command(index);
        let base = match &command.dir {
            Dir::Call => call.clone(),
            Dir::Changed(text) => self.namer.below(call, text),
            Dir::Unknown => Namer::nowhere(),
        };
        let folder = self.namer.folder(&base);
        if let Some(why) = &folder.opaque {
            self.opaque(origin.clone(), why);
        }
        let mut fact = CommandFact {
            script,
            text: joined(&command.words),
            source: command.text.clone(),
            wrappers: command.wrappers.clone(),
            pipe: command.pipe.map(|place| (place.pipeline, place.stage, place.stages)),
            dir: folder.name,
            features: command.features,
            network: command.network,
            sources: command.sources.clone(),
            code_from: command.code.clone(),
            gap: gap_of(&command, gap),
            ..CommandFact::default()
        };
        fact.touches = touches_of(&command, fact.gap.is_empty());
        let names_only = fact.touches.iter().all(|access| *access == Access::NAME);
        for (at, (word, part)) in command.words.iter().zip(&command.parts).enumerate() {
            let access = fact.touches.get(at).copied().unwrap_or(Access::UNSURE);
            let at = u32::try_from(at).unwrap_or(u32::MAX);
            if is_name(word, part) {
                fact.names.push(at);
                fact.word_paths.push(None);
                continue;
            }
            let mut one = None;
            for text in path_texts(word, part) {
                let index = self.word_path(&base, &text, access, &origin, &mut fact);
                if matches!(value_of(word, part), Some(shell::Word::OneOf(_))) {
                    fact.one_of_paths.extend(index.map(|index| (at, index)));
                } else {
                    one = index;
                }
            }
            fact.word_paths.push(one);
        }
        self.hosts_of(&command, &origin, &mut fact);
        for (name, value) in super::account::accounts(&command) {
            self.argument(name, value);
        }
        for redirect in &command.redirects {
            self.redirect(redirect, &base, &origin, &mut fact);
        }
        let patched = self.patch_command(&command, &base, &origin);
        fact.paths.extend(patched);
        fact.words = command.words.iter().map(word_fact).collect();
        // What is only listed or printed does no harm whatever it is; a word that splits may also bring flags.
        fact.unknown_is_data =
            names_only && fact.words.iter().all(|word| !matches!(word, Word::Unknown { splits: true, .. }));
        fact.parts = command.parts.iter().map(part_fact).collect();
        let doubt = doubt_of(&command, &fact, folder.inside);
        let writes = fact.redirects.iter().any(|redirect| redirect.file && redirect.writes);
        fact.plain_but_writes = doubt.is_none();
        fact.plain = doubt.is_none() && !writes;
        fact.not_plain = match doubt {
            Some(doubt) => doubt,
            None if writes => "a redirection writes a file".to_owned(),
            None => String::new(),
        };
        self.facts.commands.push(fact);
    }

    fn word_path(
        &mut self,
        base: &Raw,
        text: &Text,
        access: Access,
        origin: &Origin,
        fact: &mut CommandFact,
    ) -> Option<u32> {
        if text.text.len() > MAX_PATH_BYTES || is_remote(&text.text) {
            return None;
        }
        // `@FILE` and `name=@FILE` of what is sent are that file and no other.
        let sent = access.any(Access::SEND).then(|| sent_file(&text.text)).flatten();
        if let Some(file) = sent.filter(|file| !is_remote(file)) {
            let named = self.namer.word(base, file, text.form, true);
            return self.command_path(file, named, access, origin, fact);
        }
        let mut named = self.namer.word(base, &text.text, text.form, text.tilde);
        for inner in inner_texts(&text.text) {
            let more = self.namer.word(base, inner, text.form, true);
            named.opaque = named.opaque.or(more.opaque);
            for name in more.names {
                if !named.names.contains(&name) {
                    named.names.push(name);
                }
            }
        }
        self.command_path(&text.text, named, access, origin, fact)
    }

    fn command_path(
        &mut self,
        text: &str,
        named: Named,
        access: Access,
        origin: &Origin,
        fact: &mut CommandFact,
    ) -> Option<u32> {
        let same = |index: &&u32| {
            usize::try_from(**index).ok().and_then(|index| self.facts.paths.get(index)).is_some_and(|path| {
                path.access == access && path.form == named.form && path.names == named.names
            })
        };
        if let Some(index) = fact.paths.iter().rev().take(16).find(same) {
            return Some(*index);
        }
        let index = self.path(text, named, access, origin.clone())?;
        fact.paths.push(index);
        Some(index)
    }

    fn hosts_of(&mut self, command: &shell::Command, origin: &Origin, fact: &mut CommandFact) {
        let mut hosts = url::Hosts::default();
        for (at, word) in command.words.iter().enumerate() {
            for text in texts(word) {
                let mut found = match text.form {
                    Form::Holes => url::scan_with_holes(&text.text),
                    Form::Glob => url::scan(&unescape_glob(&text.text)),
                    Form::Exact => url::scan(&text.text),
                };
                // A pattern of addresses (`sed 's#://[^@]*@#://#'`) is no address that anybody asks.
                if only_text(command, at) {
                    found.opaque = None;
                }
                hosts.extend(found);
                hosts.extend(device_host(&text.text));
            }
        }
        for peer in &command.peers {
            let (word, remote) = match peer {
                Peer::Host(word) => (word, false),
                Peer::Remote(word) => (word, true),
            };
            for text in texts(word) {
                hosts.extend(if remote { remote_hosts(&text) } else { named_hosts(text) });
            }
        }
        // `user@host:path` is on another machine whatever the program.
        for word in operands(command).filter(|word| may_hold_user(word)) {
            for text in texts(word) {
                if text.text.split(':').next().is_some_and(|front| front.contains('@')) {
                    hosts.extend(remote_hosts(&text));
                }
            }
        }
        fact.domains = self.domains(hosts, origin);
    }

    fn redirect(&mut self, redirect: &shell::Redirect, base: &Raw, origin: &Origin, fact: &mut CommandFact) {
        let op = format!("{}{}", redirect.fd, redirect.op);
        let quiet = |op: String| Redirect { op, file: false, writes: false, path: None };
        if redirect.op.starts_with("<<") {
            fact.input = texts(&redirect.target).into_iter().next().map(|text| text.text);
            fact.redirects.push(quiet(op));
            return;
        }
        let copy = |text: &str| {
            let text = text.strip_suffix('-').unwrap_or(text);
            text.bytes().all(|byte| byte.is_ascii_digit())
        };
        let writes = redirect.op.contains('>');
        for text in texts(&redirect.target) {
            let known = text.form == Form::Exact;
            let is_copy = redirect.op.ends_with('&') && (redirect.op == "<&" || known && copy(&text.text));
            let is_stream = known
                && (["/dev/null", "/dev/stdout", "/dev/stderr"].contains(&text.text.as_str())
                    || resolve::is_descriptor(&text.text));
            if is_copy || is_stream {
                fact.redirects.push(quiet(op.clone()));
                continue;
            }
            let mut hosts = device_host(&text.text);
            if text.form == Form::Holes && text.text.starts_with("/dev/") {
                hosts = url::Hosts::any();
            }
            let domains = self.domains(hosts, origin);
            fact.domains.extend(domains);
            let named = self.namer.word(base, &text.text, text.form, text.tilde);
            let access = if writes { Access::WRITE } else { Access::READ };
            let path = self.command_path(&text.text, named, access, origin, fact);
            fact.redirects.push(Redirect { op: op.clone(), file: true, writes, path });
        }
    }
}

/// What a command does with the file that each of its words names.
fn touches_of(command: &shell::Command, certain: bool) -> Vec<Access> {
    let program = command.words.first().and_then(shell::Word::known).unwrap_or_default();
    // A file of the same name is another program; a function, a variable or an unknown flag may make it do more.
    let certain = certain && (!program.contains(['/', '\\']) || is_system_program(program));
    let own = command.touches.iter().map(|touch| Access::from_bits(touch.bits()));
    own.map(|access| if certain { access } else { access.and(Access::UNSURE) }).collect()
}

/// Whether a word is surely a text to a program that reaches no network: what is searched for, or a script of sed or jq.
fn only_text(command: &shell::Command, at: usize) -> bool {
    let program = command.words.first().and_then(shell::Word::known).unwrap_or_default();
    let Some(touch) = command.touches.get(at).filter(|_| at > 0 && !command.network) else { return false };
    let program = match is_system_program(program) {
        true => program.rsplit('/').next().unwrap_or_default(),
        false => program,
    };
    let bits = Access::from_bits(touch.bits());
    let data = bits == Access::DATA || bits == Access::CODE || bits == Access::DATA.and(Access::CODE);
    data && matches!(
        program,
        "sed" | "gsed" | "jq" | "grep" | "egrep" | "fgrep" | "ggrep" | "rg" | "ag" | "tr" | "cut"
    )
}

/// A program of the system by its full name.
fn is_system_program(name: &str) -> bool {
    const FOLDERS: [&str; 7] =
        ["/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin"];
    name.rsplit_once('/').is_some_and(|(folder, _)| FOLDERS.contains(&folder))
}

/// Why a command is not plain, redirections aside.
fn doubt_of(command: &shell::Command, fact: &CommandFact, inside: bool) -> Option<String> {
    if !fact.gap.is_empty() {
        return Some(fact.gap.clone());
    }
    if command.words.is_empty() {
        return Some("it runs no program".to_owned());
    }
    if command.words.len() != command.parts.len() {
        return Some("the roles of its words are not known".to_owned());
    }
    // How a line is split is no matter to anything but the `read` that it stands before.
    let reads = command.words.first().and_then(shell::Word::known) == Some("read");
    let harmless = |name: &str| is_harmless(name) || reads && name == "IFS";
    if let Some(assignment) = command.assignments.iter().find(|assignment| !harmless(&assignment.name)) {
        return Some(format!("the assignment of {} may change what runs", assignment.name));
    }
    if fact.dir.views.is_empty() {
        return Some("the folder it runs in is not known".to_owned());
    }
    if !inside {
        return Some("it runs outside the project".to_owned());
    }
    None
}

fn gap_of(command: &shell::Command, gap: Option<&str>) -> String {
    let own = command.gaps.iter().min().map(|gap| match gap {
        Gap::UnknownProgram => "which program runs is not known",
        Gap::Shadowed => "a function or an alias of this name may run instead",
        Gap::Environment => "a variable changes what runs",
        Gap::UnreadCode => "it runs code that cannot be read",
        Gap::PartlyRead => "its code is not wholly understood",
        Gap::UncertainWrapper => "what its wrapper runs is not certain",
        Gap::Unparsed => "the text inside it was not understood",
    });
    let program = match command.words.first() {
        Some(word) if word.known().is_none() => Some("which program runs is not known"),
        _ => None,
    };
    own.or(program).or(gap).unwrap_or_default().to_owned()
}

/// Variables that change only how something is printed or counted.
pub(super) fn is_harmless(name: &str) -> bool {
    const NAMES: [&str; 24] = [
        "LANG",
        "LANGUAGE",
        "TZ",
        "TERM",
        "COLUMNS",
        "LINES",
        "CI",
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "COLORTERM",
        "NODE_ENV",
        "NODE_DISABLE_COLORS",
        "RUST_BACKTRACE",
        "RUST_LOG",
        "DEBUG",
        "VERBOSE",
        "PYTHONUNBUFFERED",
        "PYTHONDONTWRITEBYTECODE",
        "GIT_TERMINAL_PROMPT",
        "GIT_OPTIONAL_LOCKS",
        "CARGO_TERM_COLOR",
        "DEBIAN_FRONTEND",
    ];
    NAMES.contains(&name) || name.starts_with("LC_")
}

fn operands(command: &shell::Command) -> impl Iterator<Item = &shell::Word> {
    command
        .words
        .iter()
        .zip(&command.parts)
        .filter(|(_, part)| matches!(part, shell::Part::Operand { .. } | shell::Part::Unclear))
        .map(|(word, _)| word)
}

/// The hosts of a word that is a host or URL.
fn named_hosts(text: Text) -> url::Hosts {
    if text.text.starts_with(['/', '.', '@', '-']) {
        return url::Hosts::default();
    }
    let text = if text.form == Form::Glob { unescape_glob(&text.text) } else { text.text };
    url::whole(&text, true)
}

/// The host of a word that is `HOST:PATH` or a file.
fn remote_hosts(text: &Text) -> url::Hosts {
    if url::has_url(&text.text) {
        // Its host is found in any case.
        return url::Hosts::default();
    }
    if text.text.contains(HOLE) {
        return url::Hosts::any();
    }
    // `./a:b` is a file.
    url::copy_host(&text.text).map(|host| url::whole(&host, true)).unwrap_or_default()
}

fn may_hold_user(word: &shell::Word) -> bool {
    texts(word).iter().any(|text| text.text.contains('@') && text.text.contains(':'))
}

/// `/dev/tcp/HOST/PORT`, which bash connects to.
fn device_host(text: &str) -> url::Hosts {
    match text.strip_prefix("/dev/tcp/").or_else(|| text.strip_prefix("/dev/udp/")) {
        Some(rest) => url::whole(rest.split('/').next().unwrap_or_default(), true),
        None => url::Hosts::default(),
    }
}
