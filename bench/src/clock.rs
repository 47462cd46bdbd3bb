//! Times contenders side by side.
//!
//! INVARIANT: all contenders take turns inside each round, and what is told is the least thread CPU time of all rounds, so that
//! the noise of a busy machine hits none of them alone.

use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;

/// Rounds of a race.
pub const ROUNDS: usize = 16;
/// Most values of a turn.
pub const PASS: usize = 256;
/// What one turn may take, ns: slow contenders get fewer values.
const TURN: f64 = 2e7;

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

/// Least ns a value of one contender.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// With the same values in each round, gone through just before.
    pub warm: f64,
    /// With values that were not seen before: caches and who remembers answers gain no more than in life.
    pub fresh: f64,
}

/// Lets all take turns, with `values` different values.
pub fn race(jobs: &mut [Job], values: usize) -> Vec<Times> {
    let fits: Vec<usize> = jobs.iter_mut().map(|job| fit(job, values.min(PASS))).collect();
    let clock = (0..100).map(|_| once(|| ()).1).fold(f64::INFINITY, f64::min);
    let mut least = vec![Times { warm: f64::INFINITY, fresh: f64::INFINITY }; jobs.len()];
    for round in 0..ROUNDS {
        for ((job, &fit), least) in jobs.iter_mut().zip(&fits).zip(&mut least) {
            let mut timed = |from| (once(|| pass(job, from, fit, values)).1 - clock) / fit as f64;
            least.fresh = least.fresh.min(timed((round + 1) * fit));
            // ORDER: what the others pushed out of the caches is brought back first.
            least.warm = least.warm.min(timed(0)).min(timed(0));
        }
    }
    least
}

fn pass(job: &mut Job, from: usize, count: usize, values: usize) {
    for value in from..from + count {
        black_box(job(black_box(value % values)));
    }
}

/// How many values fit in a turn; also warms up.
fn fit(job: &mut Job, most: usize) -> usize {
    let (mut fit, mut all) = (0, 0.0);
    while fit < most && all < TURN {
        let (_, took) = once(|| job(fit));
        fit += 1;
        all += took;
    }
    fit
}
