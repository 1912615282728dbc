//! Quantiles of a few samples.

/// Samples in ascending order.
#[derive(Debug)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// Takes samples in any order.
    pub fn new(mut samples: Vec<f64>) -> Self {
        samples.sort_by(f64::total_cmp);
        Self(samples)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The smallest sample that at least `share` of all samples do not exceed; NaN if there are none.
    pub fn at(&self, share: f64) -> f64 {
        let rank = (share * self.0.len() as f64).ceil() as usize;
        self.0.get(rank.max(1) - 1).copied().unwrap_or(f64::NAN)
    }
}
