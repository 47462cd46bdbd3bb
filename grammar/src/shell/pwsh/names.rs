//! Names of cmdlets: the aliases that every session has, and parameters written short.
//!
//! INVARIANT: one name for one cmdlet, so that a pattern on it holds however it was called; a parameter that may be
//! several is told as all of them.

use crate::shell::program::Program;

/// Alias and cmdlet, sorted by alias.
const ALIASES: &[(&str, &str)] = &[
    ("%", "ForEach-Object"),
    ("?", "Where-Object"),
    ("ac", "Add-Content"),
    ("asnp", "Add-PSSnapin"),
    ("cat", "Get-Content"),
    ("cd", "Set-Location"),
    ("chdir", "Set-Location"),
    ("clc", "Clear-Content"),
    ("clear", "Clear-Host"),
    ("clhy", "Clear-History"),
    ("cli", "Clear-Item"),
    ("clp", "Clear-ItemProperty"),
    ("cls", "Clear-Host"),
    ("clv", "Clear-Variable"),
    ("compare", "Compare-Object"),
    ("copy", "Copy-Item"),
    ("cp", "Copy-Item"),
    ("cpi", "Copy-Item"),
    ("cpp", "Copy-ItemProperty"),
    ("curl", "Invoke-WebRequest"),
    ("cvpa", "Convert-Path"),
    ("dbp", "Disable-PSBreakpoint"),
    ("del", "Remove-Item"),
    ("diff", "Compare-Object"),
    ("dir", "Get-ChildItem"),
    ("echo", "Write-Output"),
    ("epal", "Export-Alias"),
    ("epcsv", "Export-Csv"),
    ("erase", "Remove-Item"),
    ("etsn", "Enter-PSSession"),
    ("exsn", "Exit-PSSession"),
    ("fc", "Format-Custom"),
    ("fhx", "Format-Hex"),
    ("fl", "Format-List"),
    ("foreach", "ForEach-Object"),
    ("ft", "Format-Table"),
    ("fw", "Format-Wide"),
    ("gal", "Get-Alias"),
    ("gbp", "Get-PSBreakpoint"),
    ("gc", "Get-Content"),
    ("gcb", "Get-Clipboard"),
    ("gci", "Get-ChildItem"),
    ("gcim", "Get-CimInstance"),
    ("gcm", "Get-Command"),
    ("gcs", "Get-PSCallStack"),
    ("gdr", "Get-PSDrive"),
    ("ghy", "Get-History"),
    ("gi", "Get-Item"),
    ("gin", "Get-ComputerInfo"),
    ("gjb", "Get-Job"),
    ("gl", "Get-Location"),
    ("gm", "Get-Member"),
    ("gmo", "Get-Module"),
    ("gp", "Get-ItemProperty"),
    ("gps", "Get-Process"),
    ("gpv", "Get-ItemPropertyValue"),
    ("group", "Group-Object"),
    ("gsn", "Get-PSSession"),
    ("gsv", "Get-Service"),
    ("gtz", "Get-TimeZone"),
    ("gu", "Get-Unique"),
    ("gv", "Get-Variable"),
    ("gwmi", "Get-WmiObject"),
    ("h", "Get-History"),
    ("help", "Get-Help"),
    ("history", "Get-History"),
    ("icim", "Invoke-CimMethod"),
    ("icm", "Invoke-Command"),
    ("iex", "Invoke-Expression"),
    ("ihy", "Invoke-History"),
    ("ii", "Invoke-Item"),
    ("ipal", "Import-Alias"),
    ("ipcsv", "Import-Csv"),
    ("ipmo", "Import-Module"),
    ("irm", "Invoke-RestMethod"),
    ("iwmi", "Invoke-WmiMethod"),
    ("iwr", "Invoke-WebRequest"),
    ("kill", "Stop-Process"),
    ("ls", "Get-ChildItem"),
    ("man", "Get-Help"),
    ("md", "New-Item"),
    ("measure", "Measure-Object"),
    ("mi", "Move-Item"),
    ("mkdir", "New-Item"),
    ("mount", "New-PSDrive"),
    ("move", "Move-Item"),
    ("mp", "Move-ItemProperty"),
    ("mv", "Move-Item"),
    ("nal", "New-Alias"),
    ("ndr", "New-PSDrive"),
    ("ni", "New-Item"),
    ("nmo", "New-Module"),
    ("nsn", "New-PSSession"),
    ("nv", "New-Variable"),
    ("ogv", "Out-GridView"),
    ("oh", "Out-Host"),
    ("popd", "Pop-Location"),
    ("ps", "Get-Process"),
    ("pushd", "Push-Location"),
    ("pwd", "Get-Location"),
    ("r", "Invoke-History"),
    ("rcim", "Remove-CimInstance"),
    ("rcjb", "Receive-Job"),
    ("rd", "Remove-Item"),
    ("rdr", "Remove-PSDrive"),
    ("ren", "Rename-Item"),
    ("ri", "Remove-Item"),
    ("rjb", "Remove-Job"),
    ("rm", "Remove-Item"),
    ("rmdir", "Remove-Item"),
    ("rmo", "Remove-Module"),
    ("rni", "Rename-Item"),
    ("rnp", "Rename-ItemProperty"),
    ("rp", "Remove-ItemProperty"),
    ("rsn", "Remove-PSSession"),
    ("rv", "Remove-Variable"),
    ("rvpa", "Resolve-Path"),
    ("rwmi", "Remove-WmiObject"),
    ("sajb", "Start-Job"),
    ("sal", "Set-Alias"),
    ("saps", "Start-Process"),
    ("sasv", "Start-Service"),
    ("sbp", "Set-PSBreakpoint"),
    ("sc", "Set-Content"),
    ("scb", "Set-Clipboard"),
    ("scim", "Set-CimInstance"),
    ("select", "Select-Object"),
    ("set", "Set-Variable"),
    ("shcm", "Show-Command"),
    ("si", "Set-Item"),
    ("sl", "Set-Location"),
    ("sleep", "Start-Sleep"),
    ("sls", "Select-String"),
    ("sort", "Sort-Object"),
    ("sp", "Set-ItemProperty"),
    ("spjb", "Stop-Job"),
    ("spps", "Stop-Process"),
    ("spsv", "Stop-Service"),
    ("start", "Start-Process"),
    ("stz", "Set-TimeZone"),
    ("sv", "Set-Variable"),
    ("swmi", "Set-WmiInstance"),
    ("tee", "Tee-Object"),
    ("trcm", "Trace-Command"),
    ("type", "Get-Content"),
    ("wget", "Invoke-WebRequest"),
    ("where", "Where-Object"),
    ("wjb", "Wait-Job"),
    ("write", "Write-Output"),
];

/// Parameters that every cmdlet has, those with a value first.
const COMMON_VALUES: &[&str] = &[
    "-ErrorAction",
    "-WarningAction",
    "-InformationAction",
    "-ProgressAction",
    "-ErrorVariable",
    "-WarningVariable",
    "-InformationVariable",
    "-OutVariable",
    "-OutBuffer",
    "-PipelineVariable",
];
const COMMON_SWITCHES: &[&str] = &["-Verbose", "-Debug", "-WhatIf", "-Confirm"];
/// Short names of parameters that are no beginnings of them.
const SHORT: &[(&str, &str)] = &[
    ("-ea", "-ErrorAction"),
    ("-wa", "-WarningAction"),
    ("-infa", "-InformationAction"),
    ("-ev", "-ErrorVariable"),
    ("-wv", "-WarningVariable"),
    ("-iv", "-InformationVariable"),
    ("-ov", "-OutVariable"),
    ("-ob", "-OutBuffer"),
    ("-pv", "-PipelineVariable"),
    ("-vb", "-Verbose"),
    ("-db", "-Debug"),
    ("-wi", "-WhatIf"),
    ("-cf", "-Confirm"),
    ("-lp", "-LiteralPath"),
    ("-pspath", "-LiteralPath"),
];
/// Switches of cmdlets of which nothing else is known.
const USUAL_SWITCHES: &[&str] =
    &["-Recurse", "-Force", "-PassThru", "-AsJob", "-NoNewline", "-Append", "-Wait"];

/// The cmdlet that an alias stands for.
pub(crate) fn alias(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let at = ALIASES.binary_search_by(|(alias, _)| (*alias).cmp(name.as_str())).ok()?;
    ALIASES.get(at).map(|(_, cmdlet)| *cmdlet)
}

/// The name of a command as patterns write it: aliases resolved, `verb-noun` with capitals, no module before it.
pub(crate) fn canonical(name: &str) -> String {
    if let Some(cmdlet) = alias(name) {
        return cmdlet.to_string();
    }
    let bare = match name.rsplit_once('\\') {
        Some((module, bare)) if module.to_lowercase().starts_with("microsoft.") => bare,
        _ => name,
    };
    let known = ALIASES.iter().map(|(_, cmdlet)| *cmdlet).chain(CMDLETS.iter().copied());
    if let Some(cmdlet) = known.into_iter().find(|c| c.eq_ignore_ascii_case(bare)) {
        return cmdlet.to_string();
    }
    match is_cmdlet(bare) {
        true => capitals(bare),
        false => bare.to_string(),
    }
}

/// Whether a name has the form of a cmdlet.
pub(crate) fn is_cmdlet(name: &str) -> bool {
    let letters = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric());
    match name.split_once('-') {
        Some((verb, noun)) => VERBS.contains(&verb.to_lowercase().as_str()) && letters(noun),
        None => matches!(name.to_lowercase().as_str(), "foreach" | "where" | "mkdir"),
    }
}

/// Verbs of cmdlets.
const VERBS: &[&str] = &[
    "add",
    "approve",
    "assert",
    "backup",
    "block",
    "build",
    "checkpoint",
    "clear",
    "close",
    "compare",
    "complete",
    "compress",
    "confirm",
    "connect",
    "convert",
    "convertfrom",
    "convertto",
    "copy",
    "debug",
    "deny",
    "deploy",
    "disable",
    "disconnect",
    "dismount",
    "edit",
    "enable",
    "enter",
    "exit",
    "expand",
    "export",
    "find",
    "foreach",
    "format",
    "get",
    "grant",
    "group",
    "hide",
    "import",
    "initialize",
    "install",
    "invoke",
    "join",
    "limit",
    "lock",
    "measure",
    "merge",
    "mount",
    "move",
    "new",
    "open",
    "optimize",
    "out",
    "ping",
    "pop",
    "protect",
    "publish",
    "push",
    "read",
    "receive",
    "redo",
    "register",
    "remove",
    "rename",
    "repair",
    "request",
    "reset",
    "resize",
    "resolve",
    "restart",
    "restore",
    "resume",
    "revoke",
    "save",
    "search",
    "select",
    "send",
    "set",
    "show",
    "skip",
    "sort",
    "split",
    "start",
    "step",
    "stop",
    "submit",
    "suspend",
    "switch",
    "sync",
    "tee",
    "test",
    "trace",
    "unblock",
    "undo",
    "uninstall",
    "unlock",
    "unprotect",
    "unpublish",
    "unregister",
    "update",
    "use",
    "wait",
    "watch",
    "where",
    "write",
];

/// `get-childitem` as `Get-Childitem`: the case of a name that no data spells. Patterns ignore it, grants do not.
fn capitals(name: &str) -> String {
    if name.chars().any(char::is_uppercase) && !name.chars().all(|c| c.is_uppercase() || !c.is_alphabetic()) {
        return name.to_string();
    }
    let mut out = String::with_capacity(name.len());
    let mut up = true;
    for c in name.chars() {
        if up {
            out.extend(c.to_uppercase());
        } else {
            out.extend(c.to_lowercase());
        }
        up = c == '-';
    }
    out
}

/// A parameter as its cmdlet names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// The names that it may be; one unless the short form is ambiguous.
    pub(crate) names: Vec<String>,
    /// It takes a value; not known where nothing is known of the cmdlet.
    pub(crate) value: Option<bool>,
}

/// What a parameter is, however short it is written.
pub(crate) fn parameter(program: Option<&Program>, written: &str) -> Parameter {
    let lower = written.to_lowercase();
    let lists: [(&[String], bool); 2] = match program {
        Some(program) => [(&program.value_flags, true), (&program.flags, false)],
        None => [(&[], true), (&[], false)],
    };
    let mut all: Vec<(&str, bool)> = Vec::new();
    for (list, value) in lists {
        all.extend(list.iter().map(|name| (name.as_str(), value)));
    }
    all.extend(COMMON_VALUES.iter().map(|name| (*name, true)));
    all.extend(COMMON_SWITCHES.iter().map(|name| (*name, false)));
    if program.is_none() {
        all.extend(USUAL_SWITCHES.iter().map(|name| (*name, false)));
    }
    let full = SHORT.iter().find(|(short, _)| *short == lower).map(|(_, full)| *full);
    let exact = all.iter().find(|(name, _)| name.to_lowercase() == lower || Some(*name) == full);
    if let Some((name, value)) = exact {
        return Parameter { names: vec![(*name).to_string()], value: Some(*value) };
    }
    let mut near: Vec<(&str, bool)> =
        all.into_iter().filter(|(name, _)| name.to_lowercase().starts_with(&lower)).collect();
    near.dedup();
    // The cmdlet's own parameters first: a common one of the same beginning is rarely meant.
    let value = match near.as_slice() {
        [] => None,
        [(_, first), rest @ ..] => rest.iter().all(|(_, v)| v == first).then_some(*first),
    };
    match near.is_empty() {
        true => Parameter { names: vec![written.to_string()], value: None },
        false => Parameter { names: near.into_iter().map(|(name, _)| name.to_string()).collect(), value },
    }
}

/// Whether a cmdlet comes with PowerShell, so that no variable changes what runs.
pub(crate) fn is_builtin(cmdlet: &str) -> bool {
    ALIASES.iter().any(|(_, own)| *own == cmdlet) || CMDLETS.contains(&cmdlet)
}

/// Cmdlets without an alias, as they are spelled.
const CMDLETS: &[&str] = &[
    "Add-MpPreference",
    "Add-LocalGroupMember",
    "Add-Type",
    "Checkpoint-Computer",
    "Clear-Disk",
    "Clear-EventLog",
    "Clear-RecycleBin",
    "Compress-Archive",
    "ConvertFrom-Json",
    "ConvertFrom-SecureString",
    "ConvertTo-Csv",
    "ConvertTo-Html",
    "ConvertTo-Json",
    "ConvertTo-SecureString",
    "ConvertTo-Xml",
    "ConvertFrom-Csv",
    "ConvertFrom-StringData",
    "Disable-ComputerRestore",
    "Disable-LocalUser",
    "Disable-NetFirewallRule",
    "Disable-WindowsOptionalFeature",
    "Enable-LocalUser",
    "Enable-PSRemoting",
    "Enable-WindowsOptionalFeature",
    "Expand-Archive",
    "Export-Clixml",
    "Find-Module",
    "Find-Package",
    "Format-Volume",
    "Get-Acl",
    "Get-AuthenticodeSignature",
    "Get-ChildItem",
    "Get-CimClass",
    "Get-Content",
    "Get-Counter",
    "Get-Credential",
    "Get-Culture",
    "Get-Date",
    "Get-Disk",
    "Get-DnsClient",
    "Get-Event",
    "Get-EventLog",
    "Get-ExecutionPolicy",
    "Get-FileHash",
    "Get-Host",
    "Get-HotFix",
    "Get-LocalGroup",
    "Get-LocalGroupMember",
    "Get-LocalUser",
    "Get-NetAdapter",
    "Get-NetIPAddress",
    "Get-NetIPConfiguration",
    "Get-NetTCPConnection",
    "Get-Package",
    "Get-Partition",
    "Get-PhysicalDisk",
    "Get-PSReadLineOption",
    "Get-Random",
    "Get-ScheduledTask",
    "Get-TypeData",
    "Get-UICulture",
    "Get-Uptime",
    "Get-Verb",
    "Get-Volume",
    "Get-WinEvent",
    "Import-Clixml",
    "Initialize-Disk",
    "Install-Module",
    "Install-Package",
    "Install-Script",
    "Install-WindowsFeature",
    "Join-Path",
    "Join-String",
    "Limit-EventLog",
    "New-CimInstance",
    "New-Guid",
    "New-LocalUser",
    "New-NetFirewallRule",
    "New-Object",
    "New-Partition",
    "New-PSDrive",
    "New-ScheduledTask",
    "New-ScheduledTaskAction",
    "New-Service",
    "New-SmbShare",
    "New-TimeSpan",
    "Optimize-Volume",
    "Out-Default",
    "Out-File",
    "Out-Null",
    "Out-Printer",
    "Out-String",
    "Publish-Module",
    "Publish-Script",
    "Read-Host",
    "Register-ObjectEvent",
    "Register-ScheduledJob",
    "Register-ScheduledTask",
    "Register-WmiEvent",
    "Remove-EventLog",
    "Remove-LocalUser",
    "Remove-MpPreference",
    "Remove-NetFirewallRule",
    "Remove-Partition",
    "Remove-Service",
    "Reset-ComputerMachinePassword",
    "Resolve-DnsName",
    "Restart-Computer",
    "Restart-Service",
    "Restore-Computer",
    "Save-Module",
    "Send-MailMessage",
    "Set-Acl",
    "Set-AuthenticodeSignature",
    "Set-Disk",
    "Set-ExecutionPolicy",
    "Set-LocalUser",
    "Set-MpPreference",
    "Set-NetFirewallProfile",
    "Set-NetFirewallRule",
    "Set-PSReadLineOption",
    "Set-ScheduledTask",
    "Set-Service",
    "Set-StrictMode",
    "Set-Volume",
    "Split-Path",
    "Start-BitsTransfer",
    "Start-ThreadJob",
    "Start-Transcript",
    "Stop-Computer",
    "Stop-Transcript",
    "Suspend-BitLocker",
    "Disable-BitLocker",
    "Test-Connection",
    "Test-Json",
    "Test-NetConnection",
    "Test-Path",
    "Unblock-File",
    "Uninstall-Module",
    "Uninstall-Package",
    "Uninstall-WindowsFeature",
    "Unregister-ScheduledTask",
    "Update-Help",
    "Update-Module",
    "Wait-Event",
    "Wait-Process",
    "Write-Debug",
    "Write-Error",
    "Write-Host",
    "Write-Information",
    "Write-Progress",
    "Write-Verbose",
    "Write-Warning",
    "Measure-Command",
    "Invoke-Pester",
    "Stop-VM",
    "Remove-VM",
    "Set-WinEnvironment",
    "Set-Date",
    "Clear-Tpm",
    "Get-MpPreference",
    "Get-MpComputerStatus",
    "Start-MpScan",
    "Repair-Volume",
    "Add-Computer",
    "Remove-Computer",
    "Rename-Computer",
    "Export-ModuleMember",
    "Debug-Process",
];
