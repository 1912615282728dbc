//! Finds the values at a few paths in an object's text, without reading the rest.

use serde::de::Error as _;
use serde_json::Result;

use super::reader::Reader;

/// The most paths of one search: a set of paths is kept as the bits of a number.
pub const MOST: usize = u32::BITS as usize;

/// The texts of the values at some paths, in the order of the paths; an empty text where there is none.
///
/// A path is the names of members with a space between them, as in `spec claimRef name`: no name in an object of
/// Kubernetes contains a space.
///
/// # Errors
///
/// When the text is no JSON, when a path leads through anything but a map or `null`, or when a map has a name of a path
/// twice, which no server writes and which serde's structs reject, too.
///
/// Of more than [`MOST`] paths, only so many are searched for.
pub fn pick<'de>(text: &'de str, paths: &[&str]) -> Result<[&'de str; MOST]> {
    let mut search = Search { paths, found: [""; MOST] };
    let mut reader = Reader::new(text);
    let all = (0..paths.len().min(MOST)).fold(0, |all, at| all | 1 << at);
    search.value(&mut reader, all, 0)?;
    reader.end()?;
    Ok(search.found)
}

/// Calls `visit` with the name of each member of a map and the text of its value; `null`, and an empty text, which stands
/// for a missing value, have no members. No value is read, so that no error message contains one.
///
/// # Errors
///
/// When the text is no map, or `visit` fails.
pub fn each_member<'de>(text: &'de str, visit: &mut dyn FnMut(&str, &'de str)) -> Result<()> {
    let mut reader = Reader::new(text);
    match reader.first() {
        b'{' => {
            reader.container(b'}', |reader| {
                let mut is_first = true;
                while let Some(name) = reader.name(std::mem::take(&mut is_first))? {
                    visit(&name, reader.skip()?);
                }
                Ok(())
            })?;
            reader.end()
        }
        0 | b'n' => Ok(()),
        _ => Err(expected()),
    }
}

/// Calls `visit` with the text of each item of a list; `null`, and an empty text, which stands for a missing value,
/// have no items.
///
/// # Errors
///
/// When the text is no list, or `visit` fails.
pub fn each_item<'de>(text: &'de str, visit: &mut dyn FnMut(&'de str) -> Result<()>) -> Result<()> {
    let mut reader = Reader::new(text);
    match reader.first() {
        b'[' => {
            reader.container(b']', |reader| {
                let mut is_first = true;
                while reader.item(std::mem::take(&mut is_first))? {
                    visit(reader.skip()?)?;
                }
                Ok(())
            })?;
            reader.end()
        }
        0 | b'n' => Ok(()),
        _ => Err(serde_json::Error::custom("a list or null was expected")),
    }
}

struct Search<'p, 'de> {
    paths: &'p [&'p str],
    found: [&'de str; MOST],
}

impl<'de> Search<'_, 'de> {
    /// Searches a value for the paths of a set. `walked` names of each path lead to the value.
    fn value(&mut self, reader: &mut Reader<'de>, set: u32, walked: usize) -> Result<()> {
        match reader.first() {
            b'{' => reader.container(b'}', |reader| self.members(reader, set, walked)),
            b'n' => reader.skip().map(drop),
            _ => match self.paths(set).next() {
                Some((_, path)) if walked > 0 => {
                    Err(serde_json::Error::custom(format_args!("{}: {}", path[..walked].trim_end(), expected())))
                }
                _ => Err(expected()),
            },
        }
    }

    fn members(&mut self, reader: &mut Reader<'de>, set: u32, walked: usize) -> Result<()> {
        let (mut is_first, mut seen) = (true, 0);
        while let Some(name) = reader.name(std::mem::take(&mut is_first))? {
            let (mut here, mut below) = (0, 0);
            for (at, path) in self.paths(set) {
                match path[walked..].strip_prefix(&*name) {
                    Some("") => here |= 1 << at,
                    Some(rest) if rest.starts_with(' ') => below |= 1 << at,
                    _ => {}
                }
            }
            if seen & (here | below) != 0 {
                return Err(serde_json::Error::custom(format_args!("duplicate field `{name}`")));
            }
            seen |= here | below;
            let value = match below {
                0 => reader.skip()?,
                below => reader.text_of(|reader| self.value(reader, below, walked + name.len() + 1))?,
            };
            for at in bits(here) {
                self.found[at] = value;
            }
        }
        Ok(())
    }

    /// The places of the paths of a set.
    fn paths(&self, set: u32) -> impl Iterator<Item = (usize, &str)> {
        bits(set).map(|at| (at, self.paths[at]))
    }
}

/// The places of the bits that are 1.
fn bits(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let at = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (at < MOST).then_some(at)
    })
}

#[cold]
fn expected() -> serde_json::Error {
    serde_json::Error::custom("a map or null was expected")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'t, const N: usize>(text: &'t str, wanted: [&str; N]) -> Option<[&'t str; N]> {
        let found = pick(text, &wanted).ok()?;
        assert!(found[N..].iter().all(|text| text.is_empty()));
        found[..N].try_into().ok()
    }

    #[test]
    fn values_are_found_by_their_paths_and_as_they_stand() {
        let text = r#" {"a" : {"b":[1, 2] , "b.c/d":"x", "bc":{}}, "n":null,"e\u0062":7 } "#;
        assert_eq!(found(text, ["a b", "a b.c/d", "eb"]), Some(["[1, 2]", "\"x\"", "7"]));
        assert_eq!(found(text, ["a b", "a b", "a"]).map(|found| found[2].len()), Some(35));
        assert_eq!(found(text, ["b", "a c", "n", "n x"]), Some(["", "", "null", ""]));
        assert_eq!(found("null", ["a"]), Some([""]));
        assert_eq!(found(r#"{"z":1,"a":{"b":1,"z":2},"z":3}"#, ["a b", "a c"]), Some(["1", ""]));
    }

    #[test]
    fn what_is_no_map_or_no_json_is_refused() {
        for text in ["", "[]", "7", "{", r#"{"a":1}"#, r#"{"a":[]}"#, r#"{"a":{}} x"#, r#"{"a":nul}"#, r#"{"z":01}"#] {
            assert_eq!(found(text, ["a b"]), None, "{text}");
        }
        for text in [r#"{"a":{"b":1},"a":{}}"#, r#"{"a":{"b":1,"b":1}}"#, r#"{"a":{"b":1,"\u0062":2}}"#] {
            assert_eq!(found(text, ["a b", "a c"]), None, "{text}");
        }
        let mut paths = ["other"; MOST];
        paths[MOST - 1] = "spec ref name";
        let error = pick(r#"{"spec":{"ref":"r"}}"#, &paths).unwrap_err();
        assert_eq!(error.to_string(), "spec ref: a map or null was expected");
        let deep = format!("{}1{}", r#"{"a":"#.repeat(200), "}".repeat(200));
        let path = vec!["a"; 190].join(" ");
        assert_eq!(found(&deep, [&path]), None);
        assert!(found(&deep, ["a a a"]).is_some());
    }

    #[test]
    fn items_are_visited_in_order_until_one_is_refused() {
        let visited = |text, refused: &str| {
            let mut all = Vec::new();
            let result = each_item(text, &mut |element| {
                all.push(element);
                if element == refused { Err(expected()) } else { Ok(()) }
            });
            result.is_ok().then_some(()).ok_or(all.len()).map(|()| all.join("|"))
        };
        for (text, expected) in [
            ("", ""),
            ("null", ""),
            ("[ ]", ""),
            (r#" [ 1 ,{"a":[2,"]"]} , "b" , null] "#, r#"1|{"a":[2,"]"]}|"b"|null"#),
        ] {
            assert_eq!(visited(text, "none").as_deref(), Ok(expected), "{text}");
        }
        assert_eq!(visited("[1,2,3]", "2"), Err(2));
        for (text, before) in [("{}", 0), ("7", 0), ("[1 2]", 1), ("[1,]", 1), ("[,1]", 0), ("[1", 1), ("[nul]", 0)] {
            assert_eq!(visited(text, "none"), Err(before), "{text}");
        }
    }

    #[test]
    fn members_are_visited_and_never_repeated() {
        let count = |text| {
            let mut count = 0;
            each_member(text, &mut |_, _| count += 1).map(|()| count).ok()
        };
        assert_eq!([count(""), count("null"), count("{}")], [Some(0); 3]);
        assert_eq!(count(r#"{"a":"c2VjcmV0","b":[1,{"c":{}}]}"#), Some(2));
        for text in ["[]", r#""c2VjcmV0""#, r#"{"a""#, r#"{"a":"c2VjcmV0}"#] {
            let error = each_member(text, &mut |_, _| {}).unwrap_err().to_string();
            assert!(!error.contains("c2Vj"), "{error}");
        }
    }
}
