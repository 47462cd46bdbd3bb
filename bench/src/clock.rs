//! Times contenders side by side.
//!
//! INVARIANT: all contenders take turns inside each round, and what is told is the least thread CPU time of all rounds, so that
//! the noise of a busy machine hits none of them alone.

use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;

/// Rounds of a race.
const ROUNDS: usize = 25;
/// What one turn may take, ns: slow contenders get fewer values.
const TURN: f64 = 2e7;
/// A shorter turn is repeated until the clock is precise enough, and begins with a pass that is not timed: what the others
/// pushed out of the caches is none of its cost. ns.
const SHORT: f64 = 1e6;

/// CPU time of this thread, ns.
pub fn cpu() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e9 + now.tv_nsec as f64
}

/// Time in which a job is done once, ns.
pub fn once<T>(job: impl FnOnce() -> T) -> (T, f64) {
    let start = cpu();
    let out = job();
    (out, cpu() - start)
}

/// Work on value number so-and-so; the answer only keeps the work from being left out.
pub type Job<'a> = Box<dyn FnMut(usize) -> u64 + 'a>;

/// Least ns a value of each job, with `values` different values each.
pub fn race(jobs: &mut [Job], values: usize) -> Vec<f64> {
    let turns: Vec<(usize, usize)> = jobs.iter_mut().map(|job| turn(job, values)).collect();
    let mut least = vec![f64::INFINITY; jobs.len()];
    for _ in 0..ROUNDS {
        for ((job, &(values, repeats)), least) in jobs.iter_mut().zip(&turns).zip(&mut least) {
            if repeats > 1 {
                pass(job, values);
            }
            let ((), took) = once(|| (0..repeats).for_each(|_| pass(job, values)));
            *least = least.min(took / (values * repeats) as f64);
        }
    }
    least
}

fn pass(job: &mut Job, values: usize) {
    for value in 0..values {
        black_box(job(black_box(value)));
    }
}

/// How many values and repeats fit in a turn; also warms up.
fn turn(job: &mut Job, values: usize) -> (usize, usize) {
    let (mut fit, mut all) = (0, 0.0);
    while fit < values && all < TURN {
        let (_, took) = once(|| job(fit));
        fit += 1;
        all += took;
    }
    let ((), all) = once(|| pass(job, fit));
    (fit, ((SHORT / all.max(1.0)) as usize).clamp(1, 10_000))
}
