//! The command line.
//!
//! INVARIANT: bad usage exits with 64, never with a code that means a decision; `hook` never comes here.

mod payments;
mod person;

pub(crate) use payments::{DemoSellerArgs, ServeArgs};
pub(crate) use person::{ApprovalsArgs, ApprovalsCommand, PinsArgs, PinsCommand};

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Compiles allow, ask and deny rules for AI agents into one decision table and enforces it on every tool call.
#[derive(Debug, Parser)]
#[command(name = "policy", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "\
Start:
  policy init                                  write a starter agent.policy for this folder
  policy check bash '{\"command\": \"git push -f\"}'   ask what a call gets
  policy explain bash '{\"command\": \"ls\"}'        and why
  policy hook --host claude-code               answer a host's hook event from standard input

Exit codes: 0 ok or allow, 1 findings or failed tests, 2 deny, 3 ask, 4 bad policy, 64 bad usage")]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
    /// What every command understands.
    #[command(flatten)]
    pub(crate) common: Common,
}

/// What every command understands.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// How to report: for a person at a terminal, as plain lines, or as JSON.
    #[arg(long, global = true, value_enum, value_name = "FORMAT")]
    pub(crate) format: Option<Format>,
    /// Say only what went wrong.
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(crate) quiet: bool,
    /// Say more.
    #[arg(short, long, global = true)]
    pub(crate) verbose: bool,
    /// The home folder, instead of the password database's (for tests).
    #[arg(long, global = true, hide = true, value_name = "DIR")]
    pub(crate) home: Option<PathBuf>,
    /// The folder to work in, instead of the current one (for tests).
    #[arg(long, global = true, hide = true, value_name = "DIR")]
    pub(crate) project: Option<PathBuf>,
}

/// How to report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a person: sources quoted, colors at a terminal.
    Human,
    /// Plain lines without drawing, for screen readers and logs.
    Plain,
    /// JSON.
    Json,
    /// SARIF 2.1.0 (`policy scan`).
    Sarif,
    /// Annotations of GitHub (`policy scan`).
    Github,
}

/// `policy wrap`.
#[derive(Debug, Args)]
pub(crate) struct WrapArgs {
    /// This policy instead of the user's and the project's.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// The name of the server, as policies call it (`from NAME`): its key in the client's settings.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The file of the audit log.
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// Who is asked when the policy says ask.
    #[arg(long, value_enum, default_value_t = AskWay::Auto, value_name = "WAY")]
    pub(crate) ask: AskWay,
    /// Let everything through, and record what would have held.
    #[arg(long)]
    pub(crate) observe: bool,
    /// Put the servers of a client's settings behind `policy wrap`; all of them, or those that are named.
    #[arg(long, value_name = "CLIENT", conflicts_with_all = ["uninstall", "command"])]
    pub(crate) install: Option<String>,
    /// Take them out again.
    #[arg(long, value_name = "CLIENT", conflicts_with = "command")]
    pub(crate) uninstall: Option<String>,
    /// Servers for `--install` and `--uninstall`.
    #[arg(value_name = "SERVER")]
    pub(crate) servers: Vec<String>,
    /// The server's command line.
    #[arg(last = true, required_unless_present_any = ["install", "uninstall"], value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AskWay {
    /// In the client where it can (an address that it opens, else a form), and on the approval page.
    Auto,
    /// In the client alone; a client that can show neither gets a denial.
    Elicit,
    /// The approval page and `policy approvals` alone.
    Page,
    /// Nobody: an ask is a denial.
    Deny,
}

/// `policy rules`.
#[derive(Debug, Args)]
pub(crate) struct RulesArgs {
    /// Packs (`std/git`), rules (`std/git/no-force-push`) or formats of secrets; the part behind the last slash is enough.
    pub(crate) names: Vec<String>,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a starter agent.policy fitted to this folder, and trust it.
    #[command(after_help = "Examples:\n  policy init\n  policy init services/api")]
    Init(InitArgs),
    /// Say what the built-in rules are: why, what to do instead, how they are tested, how they are allowed.
    #[command(after_help = "\
Examples:
  policy rules                           every pack and every rule, a line each
  policy rules std/git                   the page of a pack
  policy rules std/git/no-force-push     one rule
  policy rules checks                    what `check` lines can name")]
    Rules(RulesArgs),
    /// Check a policy, run its tests and write its table.
    #[command(after_help = "\
Examples:
  policy compile                         the policy of this folder; the table goes to the cache
  policy compile agent.policy -o agent.table
  policy compile --check team.policy     write nothing")]
    Compile(CompileArgs),
    /// Run the `expect` and `test` blocks of policies.
    #[command(after_help = "Examples:\n  policy test\n  policy test policies/ team.policy")]
    Test(FilesArgs),
    /// Write policies in the one canonical form.
    #[command(
        after_help = "Examples:\n  policy fmt\n  policy fmt --check policies/\n  policy fmt - < agent.policy"
    )]
    Fmt(FmtArgs),
    /// Print the .policy equivalent of an agent-firewall.yml or agentlint.yml.
    #[command(
        after_help = "Examples:\n  policy import agent-firewall.yml > agent.policy\n  policy import agentlint.yml -o agent.policy"
    )]
    Import(ImportArgs),
    /// Let the policy of a project also allow, as its files are now.
    #[command(after_help = "Examples:\n  policy trust\n  policy trust ~/work/app\n  policy trust --revoke")]
    Trust(TrustArgs),
    /// Ask what a call gets. Exit 0 allow, 2 deny, 3 ask.
    #[command(after_help = "\
Examples:
  policy check bash '{\"command\": \"git push --force\"}'
  policy check create_issue '{\"title\": \"x\"}' --server github
  policy check read_file '{\"path\": \".env\"}' --policy agent-firewall.yml
  policy check --batch < calls.jsonl     lines {id, tool, arguments, server?, cwd?}")]
    Check(CheckArgs),
    /// Check a patch in the form that Codex applies. Exit 0 allow, 1 deny.
    #[command(name = "check-patch")]
    #[command(after_help = "\
Examples:
  policy check-patch change.patch
  policy check-patch --json < change.patch
  policy check-patch - --cwd services/api --project-dir .")]
    CheckPatch(CheckPatchArgs),
    /// Print the compiled rules, or why a call gets what it gets.
    #[command(after_help = "\
Examples:
  policy explain                         every rule that holds here, for review
  policy explain --policy team.policy
  policy explain bash '{\"command\": \"git push -f\"}'")]
    Explain(ExplainArgs),
    /// Show which commands the reader sees in a shell text.
    #[command(
        after_help = "Examples:\n  policy shell 'cd /tmp && sudo rm -rf \"$X\"'\n  policy shell --dialect powershell 'gci C:\\ | ri -Recurse'\n  policy shell --batch < scripts.jsonl   lines {id, cmd}"
    )]
    Shell(ShellArgs),
    /// Look for secrets, and whatever else the content lines of the policy name, in files. Exit 1 on errors.
    #[command(after_help = "\
Examples:
  policy scan                            all files below this folder that git does not ignore
  policy scan src docs/setup.md --policy team.policy
  policy scan --diff main...HEAD         only the lines that a change adds
  policy scan --baseline old.json --update-baseline    what is found now is old
  policy scan --baseline old.json --format sarif > scan.sarif
  policy scan --batch < texts.jsonl      lines {id, text, path?, origin?}, origin: page, tool, file, mail, prompt")]
    Scan(ScanArgs),
    /// Answer one hook event from standard input.
    #[command(after_help = "\
Examples:
  policy hook --print claude-code        the settings that register it
  policy hook --host claude-code < event.json
  policy hook --host generic --policy team.policy < event.json

A host calls it when its settings say so; `--print` prints them for this program, and says which file they belong to.
Other programs write an event to it as JSON, `{tool_name, tool_input, cwd}`, and read the `decision`: `--host generic`")]
    Hook(HookArgs),
    /// Show the log of decisions.
    #[command(
        after_help = "Examples:\n  policy audit\n  policy audit --decision deny --last 20\n  policy audit --tool bash --since 2027-01-31 --format json\n  policy audit --summary --server github\n  policy audit verify"
    )]
    Audit(AuditArgs),
    /// Hide the warnings and remarks of a rule in this project or one session; errors are always shown.
    #[command(
        after_help = "Examples:\n  policy suppress drift-detector\n  policy suppress --list\n  policy suppress --remove drift-detector\n  policy suppress drift-detector --session 0f3c --host claude-code"
    )]
    Suppress(SuppressArgs),
    /// Answer what waits for you: without a word the page opens in your browser.
    #[command(visible_alias = "review")]
    #[command(
        after_help = "Examples:\n  policy approvals\n  policy approvals list\n  policy approvals approve 3f9a21\n  policy approvals approve 3f9a21 --session\n  policy approvals deny 3f9a21"
    )]
    Approvals(ApprovalsArgs),
    /// Look at the tools of wrapped servers that changed since they were pinned, and accept them.
    #[command(
        after_help = "Examples:\n  policy pins list\n  policy pins show github\n  policy pins accept github\n  policy pins accept github create_issue\n  policy pins forget github"
    )]
    Pins(PinsArgs),
    /// Answer an agent's questions about calls before they are made: an MCP server on standard input and output.
    #[command(after_help = "\
Examples:
  claude mcp add policy -- policy mcp
  {\"mcpServers\": {\"policy\": {\"command\": \"policy\", \"args\": [\"mcp\"]}}}   in most clients

The project is AGENTLINT_PROJECT_DIR, CLAUDE_PROJECT_DIR or the working directory; docs/mcp.md has every client")]
    Mcp(McpArgs),
    /// Answer questions about payments over HTTP, on 127.0.0.1 alone.
    #[command(
        after_help = "Examples:\n  policy serve\n  policy serve --port 0 --policy payments.policy\n\nPOST /api/v1/decisions, GET /api/v1/decisions/ID, POST /api/v1/context, with `Authorization: Bearer TOKEN`."
    )]
    Serve(ServeArgs),
    /// Sell something on 127.0.0.1 for a test payment, honestly or not, to try agents and policies with.
    #[command(name = "demo-seller")]
    #[command(
        after_help = "Examples:\n  policy demo-seller\n  policy demo-seller --list\n  policy demo-seller --port 0 --variant honest --variant payee-redirect"
    )]
    DemoSeller(DemoSellerArgs),
    /// File what a tool gave back, from a hook event on standard input; ends with 0 whatever happens.
    #[command(name = "file-tool-result")]
    FileToolResult,
    /// Print the skill that tells an agent to ask before it pays; `codex` for an AGENTS.md.
    Skill {
        /// Nothing, or `codex`.
        #[arg(default_value = "", hide_default_value = true)]
        form: String,
    },
    /// Run an MCP server behind the policy: every call is decided, written to the audit log, and let go or not.
    #[command(after_help = "\
Examples:
  policy wrap --name fs -- npx -y @modelcontextprotocol/server-filesystem .
  policy wrap --policy team.policy --name db --observe -- ./db-server
  policy wrap --install cursor           the servers of Cursor's settings; --uninstall cursor takes them out

In a client's settings the server's own command goes behind `--`; docs/gateway.md has every client")]
    Wrap(WrapArgs),
    /// Ends a wrapped server whose proxy was killed; started by `wrap`.
    #[command(name = "wrap-guard", hide = true)]
    WrapGuard,
}

/// `policy init`.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The folder; the current one by default.
    pub(crate) folder: Option<PathBuf>,
}

/// `policy compile`.
#[derive(Debug, Args)]
pub(crate) struct CompileArgs {
    /// The policy; by default the one that holds in this folder.
    pub(crate) file: Option<PathBuf>,
    /// Where to write the table.
    #[arg(short, long, value_name = "TABLE", conflicts_with = "check")]
    pub(crate) output: Option<PathBuf>,
    /// Write nothing.
    #[arg(long)]
    pub(crate) check: bool,
}

/// Files or folders.
#[derive(Debug, Args)]
pub(crate) struct FilesArgs {
    /// Policies, or folders with `*.policy` files.
    pub(crate) files: Vec<PathBuf>,
}

/// `policy fmt`.
#[derive(Debug, Args)]
pub(crate) struct FmtArgs {
    /// Change nothing; exit 1 when a file is not in canonical form.
    #[arg(long)]
    pub(crate) check: bool,
    /// Policies, folders with `*.policy` files, or `-` for standard input.
    pub(crate) files: Vec<PathBuf>,
}

/// `policy import`.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The YAML file.
    pub(crate) file: PathBuf,
    /// Where to write the policy; standard output by default. An existing file is not overwritten.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

/// `policy trust`.
#[derive(Debug, Args)]
pub(crate) struct TrustArgs {
    /// The project folder; by default the one found from the current folder upward.
    pub(crate) folder: Option<PathBuf>,
    /// Forget the trust.
    #[arg(long)]
    pub(crate) revoke: bool,
}

/// A call on the command line.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct CallArgs {
    /// The MCP server the tool belongs to.
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Who calls: a label that `as` in a policy can name.
    #[arg(long = "as", value_name = "LABEL")]
    pub(crate) label: Option<String>,
    /// The folder of the call.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// This policy instead of the user's and the project's; the managed one and std/self still hold.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
}

/// `policy check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The tool.
    #[arg(required_unless_present = "batch")]
    pub(crate) tool: Option<String>,
    /// Its arguments, a JSON object.
    #[arg(required_unless_present = "batch")]
    pub(crate) arguments: Option<String>,
    /// Read calls as JSON lines from standard input and answer each with a line.
    #[arg(long, conflicts_with_all = ["tool", "arguments"])]
    pub(crate) batch: bool,
    /// Append the decisions to this audit file.
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// The call.
    #[command(flatten)]
    pub(crate) call: CallArgs,
}

/// `policy check-patch`.
#[derive(Debug, Args)]
pub(crate) struct CheckPatchArgs {
    /// The patch; standard input by default and for `-`.
    pub(crate) file: Option<PathBuf>,
    /// Answer with one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    /// The folder that the patch's paths count from.
    #[arg(long, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// The folder that the patch must not leave; by default the repository around the other one.
    #[arg(long, value_name = "DIR")]
    pub(crate) project_dir: Option<PathBuf>,
    /// This policy instead of the user's and the project's; the managed one and std/self still hold.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Who calls: a label that `as` in a policy can name.
    #[arg(long = "as", value_name = "LABEL")]
    pub(crate) label: Option<String>,
}

/// `policy explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The tool.
    #[arg(requires = "arguments")]
    pub(crate) tool: Option<String>,
    /// Its arguments, a JSON object.
    pub(crate) arguments: Option<String>,
    /// The call.
    #[command(flatten)]
    pub(crate) call: CallArgs,
}

/// `policy shell`.
#[derive(Debug, Args)]
pub(crate) struct ShellArgs {
    /// The shell text.
    #[arg(required_unless_present = "batch")]
    pub(crate) text: Option<String>,
    /// Read texts as JSON lines from standard input and answer each with a line.
    #[arg(long, conflicts_with = "text")]
    pub(crate) batch: bool,
    /// The shell whose text it is.
    #[arg(long, value_enum, value_name = "SHELL", default_value = "bash")]
    pub(crate) dialect: ShellDialect,
    /// This policy's knowledge of programs instead of the built-in one.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
}

/// `policy scan`.
#[derive(Debug, Args)]
pub(crate) struct ScanArgs {
    /// Files and folders; this folder by default.
    pub(crate) paths: Vec<PathBuf>,
    /// Only the lines that `git diff RANGE` adds.
    #[arg(long, value_name = "RANGE")]
    pub(crate) diff: Option<String>,
    /// Read texts as JSON lines from standard input and answer each with a line.
    #[arg(long, conflicts_with_all = ["paths", "diff", "baseline", "update_baseline"])]
    pub(crate) batch: bool,
    /// Leave out the findings that stand in this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Write all findings of now into the baseline.
    #[arg(long, requires = "baseline", conflicts_with = "diff")]
    pub(crate) update_baseline: bool,
    /// This policy instead of the user's and the project's.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
}

/// A shell whose texts are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ShellDialect {
    /// GNU bash.
    Bash,
    /// A POSIX shell such as dash.
    Posix,
    /// zsh.
    Zsh,
    /// PowerShell.
    Powershell,
    /// cmd.exe.
    Cmd,
}

/// `policy hook`, for `--help` only: the hook reads its words by hand.
#[derive(Debug, Args)]
pub(crate) struct HookArgs {
    /// Print the settings that register the hook with a host; alone.
    #[arg(long, value_name = "HOST")]
    pub(crate) print: Option<String>,
    /// The host: claude-code, codex, cursor, gemini or generic.
    #[arg(long)]
    pub(crate) host: Option<String>,
    /// This policy instead of the user's and the project's.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Who calls: a label that `as` in a policy can name.
    #[arg(long = "as", value_name = "LABEL")]
    pub(crate) label: Option<String>,
    /// The audit file.
    #[arg(long, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// Where the host cannot ask, wait for a person so long; less than the host waits for the hook.
    #[arg(long, value_name = "SECONDS")]
    pub(crate) wait: Option<u64>,
    /// The folder of the user's policy, instead of ~/.config/policy.
    #[arg(long, value_name = "DIR")]
    pub(crate) config: Option<PathBuf>,
    /// The folder of trust, sessions and audit, instead of ~/.local/state/policy.
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// The folder of compiled tables, instead of ~/.cache/policy.
    #[arg(long, value_name = "DIR")]
    pub(crate) cache: Option<PathBuf>,
    /// A hook answers its host, so what other commands understand means nothing here.
    #[command(flatten)]
    pub(crate) nothing: NoReport,
}

/// In place of what every command understands, where it means nothing: help does not list it.
#[derive(Debug, Args)]
pub(crate) struct NoReport {
    /// Nothing.
    #[arg(long, hide = true, value_enum)]
    pub(crate) format: Option<Format>,
    /// Nothing.
    #[arg(short, long, hide = true)]
    pub(crate) quiet: bool,
    /// Nothing.
    #[arg(short, long, hide = true)]
    pub(crate) verbose: bool,
}

/// `policy mcp`.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// This policy instead of the user's and the project's; the managed one and std/self still hold.
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Who calls: a label that `as` in a policy can name.
    #[arg(long = "as", value_name = "LABEL")]
    pub(crate) label: Option<String>,
    /// Print the skill that tells an agent to ask before it pays; `codex` for an AGENTS.md.
    #[arg(long, value_name = "FORM", num_args = 0..=1, default_missing_value = "", conflicts_with_all = ["policy", "label", "hook"])]
    pub(crate) skill: Option<String>,
    /// Print the settings of a hook that files what tools give back.
    #[arg(long, conflicts_with_all = ["policy", "label"])]
    pub(crate) hook: bool,
    /// The protocol has the output for itself.
    #[command(flatten)]
    pub(crate) nothing: NoReport,
}

/// `policy suppress`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub(crate) struct SuppressArgs {
    /// The rule: its full name, or the last part of it.
    #[arg(value_name = "RULE", group = "what")]
    pub(crate) rule: Option<String>,
    /// The session, as its host names it; without it all sessions of this project.
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// The host of the session.
    #[arg(long, value_name = "HOST", default_value = "claude-code", requires = "session")]
    pub(crate) host: String,
    /// Say what is suppressed.
    #[arg(long, group = "what")]
    pub(crate) list: bool,
    /// Show everything again.
    #[arg(long, group = "what")]
    pub(crate) clear: bool,
    /// Show this rule again.
    #[arg(long, value_name = "RULE", group = "what")]
    pub(crate) remove: Option<String>,
}

/// `policy audit`.
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    /// Something else than showing it.
    #[command(subcommand)]
    pub(crate) what: Option<AuditCommand>,
    /// The audit file.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Only these decisions (allow, host, ask, deny).
    #[arg(long, value_name = "DECISION")]
    pub(crate) decision: Vec<String>,
    /// Only tools whose name holds this.
    #[arg(long, value_name = "TEXT")]
    pub(crate) tool: Option<String>,
    /// Only rules whose name holds this.
    #[arg(long, value_name = "TEXT")]
    pub(crate) rule: Option<String>,
    /// Only MCP servers whose name holds this.
    #[arg(long, value_name = "TEXT")]
    pub(crate) server: Option<String>,
    /// Only this session.
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
    /// Only calls that held this value, which the log has masked; `-` reads it from standard input.
    #[arg(long, value_name = "VALUE")]
    pub(crate) masked: Option<String>,
    /// Only lines of this UTC day or time and later (YYYY-MM-DD, YYYY-MM-DDTHH:MM).
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) since: Option<String>,
    /// Only lines of this UTC day or time and before, to its end.
    #[arg(long, value_name = "TIME", value_parser = moment)]
    pub(crate) until: Option<String>,
    /// Only the last N lines that match.
    #[arg(long, value_name = "N")]
    pub(crate) last: Option<usize>,
    /// The logs that were put aside too, oldest first.
    #[arg(long)]
    pub(crate) all: bool,
    /// Count what matches by decision, tool, rule, server and session.
    #[arg(long, conflicts_with = "last")]
    pub(crate) summary: bool,
}

impl AuditArgs {
    /// Whether anything is said of what to show.
    pub(crate) fn any(&self) -> bool {
        let texts =
            [&self.tool, &self.rule, &self.server, &self.session, &self.masked, &self.since, &self.until];
        self.file.is_some()
            || !self.decision.is_empty()
            || texts.iter().any(|text| text.is_some())
            || self.last.is_some()
            || self.all
            || self.summary
    }
}

/// What can be done with the audit file.
#[derive(Debug, Subcommand)]
pub(crate) enum AuditCommand {
    /// Look for lines that were changed, removed, moved, added or cut off.
    #[command(
        after_help = "Examples:\n  policy audit verify\n  policy audit verify log.jsonl --anchors journal.json\n  journalctl --all -o json -t policy > journal.json"
    )]
    Verify(AuditVerifyArgs),
    /// Look for tool calls in transcripts of Claude Code and Codex that the log does not have.
    #[command(
        after_help = "Examples:\n  policy audit gaps ~/.claude/projects/-home-me-shop/*.jsonl\n  policy audit gaps ~/.codex/sessions/2026/12/01"
    )]
    Gaps(AuditGapsArgs),
    /// Make the key that signs checkpoints, or print its public half.
    #[command(after_help = "Examples:\n  policy audit key --new\n  policy audit key > audit.pub")]
    Key(AuditKeyArgs),
    /// Append a signed checkpoint, when the chain holds; the hook does it at the end of each session.
    #[command(after_help = "Examples:\n  policy audit sign\n  policy audit verify --key $(cat audit.pub)")]
    Sign(AuditSignArgs),
}

/// `policy audit key`.
#[derive(Debug, Args)]
pub(crate) struct AuditKeyArgs {
    /// Make a new key; one that exists is not overwritten.
    #[arg(long)]
    pub(crate) new: bool,
    /// The key's file; by default `audit-sign.key` in the state folder.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// `policy audit sign`.
#[derive(Debug, Args)]
pub(crate) struct AuditSignArgs {
    /// The audit file.
    pub(crate) file: Option<PathBuf>,
    /// The key's file; by default `audit-sign.key` in the state folder.
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
}

/// `policy audit verify`.
#[derive(Debug, Args)]
pub(crate) struct AuditVerifyArgs {
    /// The audit file; the logs beside it that were put aside belong to it.
    pub(crate) file: Option<PathBuf>,
    /// Anchors as `journalctl --all -o json -t policy` or a syslog file has them; by default the journal of this machine is asked.
    #[arg(long, value_name = "FILE")]
    pub(crate) anchors: Option<PathBuf>,
    /// A public key of checkpoints, in hexadecimal; by default that of the key in the state folder. Without a checkpoint of
    /// one that is named the log does not hold.
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Vec<String>,
    /// The path under which the log was written, when it is another by now.
    #[arg(long, value_name = "PATH", requires = "anchors")]
    pub(crate) written_as: Option<PathBuf>,
    /// Only this file, whose first line may follow one that is not here.
    #[arg(long)]
    pub(crate) alone: bool,
}

/// `policy audit gaps`.
#[derive(Debug, Args)]
pub(crate) struct AuditGapsArgs {
    /// Transcripts (JSON lines), or folders with them.
    #[arg(required = true)]
    pub(crate) transcripts: Vec<PathBuf>,
    /// The audit file; the logs beside it that were put aside belong to it.
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
}

/// A day, or a time of it, as the lines of the log begin with it.
fn moment(text: &str) -> Result<String, String> {
    let text = text.strip_suffix('Z').unwrap_or(text);
    let shape = |(byte, like): (u8, u8)| if like == b'0' { byte.is_ascii_digit() } else { byte == like };
    let fits = text.bytes().zip(*b"0000-00-00T00:00:00").all(shape);
    // Whole parts only: of `T1` nobody knows which hour it is.
    match text.len() {
        10 | 13 | 16 | 19 if fits => Ok(text.to_owned()),
        _ => {
            Err("a time is written as YYYY-MM-DD, YYYY-MM-DDTHH:MM or YYYY-MM-DDTHH:MM:SS, in UTC".to_owned())
        }
    }
}
