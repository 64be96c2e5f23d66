//! Everything that was measured, as it goes to `report.json`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Confirmations, CurvePoint, Streams};
use crate::{scenario::Reading, stand::proc::Machine, strategies::Row};

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(crate) struct Findings {
    /// Where.
    pub(crate) machine: Machine,
    /// The short run.
    pub(crate) quick: bool,
    /// Interleaved rounds.
    pub(crate) rounds: usize,
    /// A second, a number a round, by ceiling.
    pub(crate) ceilings: BTreeMap<String, Vec<f64>>,
    /// A reading a round, by crowd.
    pub(crate) crowds: BTreeMap<String, Vec<Reading>>,
    /// All win at a constant rate.
    pub(crate) curves: Vec<CurvePoint>,
    /// Orders a second of a consumer with nothing else to do, a number a round.
    pub(crate) drain_alone: Vec<f64>,
    /// From accepted to confirmed, as a browser hears it.
    pub(crate) confirmations: Option<Confirmations>,
    /// Ten thousand streams.
    pub(crate) streams: Option<Streams>,
    /// The road.
    pub(crate) strategies: Vec<Row>,
}

impl Findings {
    /// Nothing yet.
    pub(crate) fn new(machine: Machine, quick: bool, rounds: usize) -> Self {
        Self {
            machine,
            quick,
            rounds,
            ceilings: BTreeMap::new(),
            crowds: BTreeMap::new(),
            curves: Vec::new(),
            drain_alone: Vec::new(),
            confirmations: None,
            streams: None,
            strategies: Vec::new(),
        }
    }

    /// The median of a ceiling.
    pub(crate) fn ceiling(&self, name: &str) -> Option<f64> {
        self.ceilings.get(name).and_then(|rates| median(rates))
    }

    /// The median of something about a crowd.
    pub(crate) fn crowd_median(&self, name: &str, of: impl Fn(&Reading) -> f64) -> Option<f64> {
        let readings = self.crowds.get(name)?;
        median(&readings.iter().map(of).collect::<Vec<_>>())
    }

    /// Something about a crowd, a number a round.
    pub(crate) fn crowd_rounds(&self, name: &str, of: impl Fn(&Reading) -> f64) -> Vec<f64> {
        self.crowds.get(name).into_iter().flatten().map(of).collect()
    }
}

/// The median over rounds of the ratio within each round, so that a slow minute slows both sides.
pub(crate) fn ratio(above: &[f64], below: &[f64]) -> Option<f64> {
    median(
        &above
            .iter()
            .zip(below)
            .map(|(above, below)| above / below)
            .collect::<Vec<_>>(),
    )
}

/// The middle value.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        n if n % 2 == 0 => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
        _ => Some(sorted[middle]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0]), Some(2.5));
    }
}
