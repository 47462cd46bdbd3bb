//! Whole processes taking turns.
//!
//! INVARIANT: all commands of a race take turns inside each round, read their event from a file and write to nowhere; wall time is
//! from spawn to exit, CPU time is all that the process and those it waited for used.

use crate::markdown::{ratio, table, time};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use wait4::{ResUse, Wait4};

/// One command of a race.
pub struct Case {
    /// What it is called in the table.
    pub name: String,
    /// Program and arguments.
    pub words: Vec<String>,
    /// The file that it reads.
    pub event: PathBuf,
    /// The home folder of a program that takes it from the environment.
    pub home: Option<String>,
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

impl Case {
    /// Not run yet.
    pub fn new(name: &str, words: &[&str], event: &Path) -> Case {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let event = event.to_owned();
        Case { name: name.to_owned(), words, event, home: None, wall: Vec::new(), cpu: Vec::new() }
    }

    /// Runs it outside the race; what it printed, when it succeeded and complained of nothing.
    pub fn answer(&self) -> Result<String, String> {
        let told = |error: std::io::Error| format!("{}: {error}", self.name);
        let event = File::open(&self.event).map_err(told)?;
        let output = self.command().stdin(event).output().map_err(told)?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() && output.stderr.is_empty() {
            return Ok(said);
        }
        Err(format!("{}: {}: {said}{}", self.name, output.status, String::from_utf8_lossy(&output.stderr)))
    }

    fn command(&self) -> Command {
        let mut command = command(&self.words);
        command.envs(self.home.iter().map(|home| ("HOME", home)));
        command
    }

    fn turn(&mut self) -> Result<(), String> {
        let event = File::open(&self.event).map_err(|error| format!("{}: {error}", self.name))?;
        let (used, wall) = measure(self.command().stdin(event))?;
        self.wall.push(wall);
        self.cpu.push(cpu(&used));
        Ok(())
    }
}

/// CPU time in ns.
pub fn cpu(used: &ResUse) -> f64 {
    (used.rusage.utime + used.rusage.stime).as_nanos() as f64
}

/// A program with its arguments.
pub fn command(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

/// Runs a command; what it used, and the time from spawn to exit in ns.
pub fn measure(command: &mut Command) -> Result<(ResUse, f64), String> {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let used = command.spawn().and_then(Wait4::wait4).map_err(|error| format!("{command:?}: {error}"))?;
    Ok((used, start.elapsed().as_nanos() as f64))
}

/// Lets all take turns and prints the table; the ratios are to the first case.
pub fn race(cases: &mut [Case], rounds: usize) -> Result<(), String> {
    for _ in 0..rounds {
        cases.iter_mut().try_for_each(Case::turn)?;
    }
    for case in cases.iter_mut() {
        case.wall.sort_by(f64::total_cmp);
        case.cpu.sort_by(f64::total_cmp);
    }
    let (wall, cpu) = (cases[0].wall[0], cases[0].cpu[0]);
    let rows: Vec<Vec<String>> = cases
        .iter()
        .map(|case| {
            let middle = rounds / 2;
            let times = [case.wall[0], case.wall[middle], case.cpu[0], case.cpu[middle]].map(time);
            let ratios = [ratio(case.wall[0], wall), ratio(case.cpu[0], cpu)];
            [vec![case.name.clone()], times.to_vec(), ratios.to_vec()].concat()
        })
        .collect();
    table(&["process", "wall least", "wall median", "CPU least", "CPU median", "wall is", "CPU is"], &rows);
    Ok(())
}

/// Runs a command that must succeed.
pub fn done(words: &[&str]) -> Result<(), String> {
    let output = Command::new(words[0]).args(&words[1..]).output().map_err(|error| error.to_string())?;
    let said = || format!("{words:?}: {}", String::from_utf8_lossy(&output.stdout));
    if output.status.success() { Ok(()) } else { Err(said() + &String::from_utf8_lossy(&output.stderr)) }
}
