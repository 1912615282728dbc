//! `?drain=N` in the address: how many keys a frame may take from each queue, so that the user can watch in slow motion
//! how a queue folds changes. Without it, a frame takes as many keys as it has time for.

use std::num::NonZeroUsize;

/// How many keys a frame may take from each queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Drain {
    /// As many as there is time for.
    #[default]
    Free,
    /// At most this many.
    Limited(NonZeroUsize),
    /// The address has a text that is no such number. It changes nothing.
    Unread(String),
}

impl Drain {
    /// Reads what the address says.
    pub fn parse(parameter: Option<&str>) -> Drain {
        match parameter.map(|text| (text, text.parse())) {
            None => Drain::Free,
            Some((_, Ok(limit))) => Drain::Limited(limit),
            Some((text, Err(_))) => Drain::Unread(text.to_owned()),
        }
    }

    /// The most keys that a frame may take from one queue.
    pub fn most(&self) -> usize {
        match self {
            Drain::Limited(limit) => limit.get(),
            Drain::Free | Drain::Unread(_) => usize::MAX,
        }
    }

    /// A remark about the limit wherever the address asks for one; empty otherwise.
    pub fn words(&self) -> String {
        match self {
            Drain::Free => String::new(),
            Drain::Limited(limit) if limit.get() == 1 => String::from("1 key a frame →"),
            Drain::Limited(limit) => format!("{limit} keys a frame →"),
            Drain::Unread(text) => {
                let short: String = text.chars().take(12).collect();
                format!("drain={short} is no number of keys")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_limits_what_a_frame_takes() {
        for (parameter, most, words) in [
            (None, usize::MAX, ""),
            (Some("1"), 1, "1 key a frame →"),
            (Some("20"), 20, "20 keys a frame →"),
            (Some("0"), usize::MAX, "drain=0 is no number of keys"),
            (Some("-1"), usize::MAX, "drain=-1 is no number of keys"),
            (Some("99999999999999999999999"), usize::MAX, "drain=999999999999 is no number of keys"),
            (Some("ä b"), usize::MAX, "drain=ä b is no number of keys"),
        ] {
            let drain = Drain::parse(parameter);
            assert_eq!((drain.most(), &*drain.words()), (most, words), "{parameter:?}");
        }
    }
}
