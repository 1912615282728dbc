//! A bucket of tokens that fills at a constant rate: what `golang.org/x/time/rate` calls a Limiter.

/// The bucket. It begins full.
#[derive(Clone, Debug)]
pub struct TokenBucket {
    /// How long one token takes to come, in milliseconds.
    every: f64,
    burst: f64,
    /// How many tokens there are. Below zero, tokens that are still to come have been taken already.
    tokens: f64,
    last: Option<f64>,
}

impl TokenBucket {
    /// A bucket that holds up to `burst` tokens, and gets one `every` so many milliseconds.
    pub fn new(every: f64, burst: u32) -> TokenBucket {
        TokenBucket { every, burst: f64::from(burst), tokens: f64::from(burst), last: None }
    }

    /// Takes a token. If there is none, takes the next one that will come. Returns how long it is until that token is there, in
    /// milliseconds; infinity if the bucket cannot hold any.
    pub fn reserve(&mut self, now: f64) -> f64 {
        if self.burst < 1.0 {
            return f64::INFINITY;
        }
        self.tokens = self.tokens(now) - 1.0;
        self.last = Some(now);
        (-self.tokens).max(0.0) * self.every
    }

    /// Takes a token if there is one, and returns whether there was. Where there is none nothing changes, so that many calls
    /// do not add up rounding errors.
    pub fn try_accept(&mut self, now: f64) -> bool {
        let tokens = self.tokens(now);
        let is_there = tokens >= 1.0;
        if is_there {
            (self.tokens, self.last) = (tokens - 1.0, Some(now));
        }
        is_there
    }

    fn tokens(&self, now: f64) -> f64 {
        let elapsed = (now - self.last.unwrap_or(now)).max(0.0);
        (self.tokens + elapsed / self.every).min(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reservations_queue_up_behind_the_burst() {
        let mut bucket = TokenBucket::new(100.0, 2);
        let waits = |bucket: &mut TokenBucket, now| [(); 3].map(|()| bucket.reserve(now));
        assert_eq!(waits(&mut bucket, 0.0), [0.0, 0.0, 100.0]);
        // One token of debt: at 150 half of one is there.
        assert_eq!(waits(&mut bucket, 150.0), [50.0, 150.0, 250.0]);
        // It never holds more than its burst.
        assert_eq!(waits(&mut bucket, 1_000_000.0), [0.0, 0.0, 100.0]);
        assert_eq!(TokenBucket::new(100.0, 0).reserve(0.0), f64::INFINITY);
    }

    #[test]
    fn what_is_not_accepted_costs_nothing() {
        let mut bucket = TokenBucket::new(300_000.0, 1);
        for now in 0..300_000 {
            assert_eq!(bucket.try_accept(f64::from(now)), now == 0, "{now}");
        }
        assert!(bucket.try_accept(300_000.0) && !bucket.try_accept(599_999.0) && bucket.try_accept(600_000.0));
    }
}
