//! The grammar of client-go's `util/jsonpath/parser.go`.

use super::{Filter, JsonPath, Node, Operator, Slice};

/// The longest path. No column needs more, and the bound limits how deep filters are nested.
const LONGEST: usize = 2_048;

/// Parses a column's path within the braces that the server puts around it.
pub(super) fn template(text: &str) -> Option<JsonPath> {
    if text.len() > LONGEST {
        return None;
    }
    let text = format!("{{{text}}}");
    let mut lists = lists(&text)?.into_iter();
    let path = lists.next()?;
    Some(JsonPath { path, others: lists.collect() })
}

/// Parses each pair of braces in a text. The text between the pairs is of no use here.
fn lists(text: &str) -> Option<Vec<Vec<Node>>> {
    let mut lists = Vec::new();
    let mut rest = text;
    while let Some((_, inside)) = rest.split_once('{') {
        let mut parser = Parser { text: inside, at: 0, start: 0 };
        lists.push(parser.list()?);
        rest = &inside[parser.at..];
    }
    Some(lists)
}

/// A part of a path by itself.
fn action(text: &str) -> Option<Vec<Node>> {
    lists(&format!("{{{text}}}"))?.into_iter().next()
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    /// Where the part that is being read began.
    start: usize,
}

impl<'a> Parser<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    // Each rule would otherwise get a copy of this, and a path is parsed but once for each column of a kind.
    #[inline(never)]
    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    #[inline(never)]
    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    #[inline(never)]
    fn consume(&mut self) -> &'a str {
        let consumed = &self.text[self.start..self.at];
        self.start = self.at;
        consumed
    }

    /// Reads up to the closing brace, and that.
    fn list(&mut self) -> Option<Vec<Node>> {
        let mut nodes = Vec::new();
        loop {
            self.start = self.at;
            if self.rest().starts_with("[?(") {
                nodes.push(self.filter()?);
                continue;
            }
            if self.rest().starts_with("..") {
                if nodes.last() == Some(&Node::Recursive) {
                    return None;
                }
                self.at += 2;
                self.start = self.at;
                nodes.push(Node::Recursive);
                if self.peek().is_some_and(is_of_word) {
                    nodes.push(self.field());
                }
                continue;
            }
            match self.peek()? {
                '}' => {
                    self.at += 1;
                    return Some(nodes);
                }
                ' ' | '@' | '$' => self.at += 1,
                '[' => nodes.extend(self.array()?),
                quote @ ('"' | '\'') => nodes.push(self.quote(quote)?),
                '.' => {
                    self.at += 1;
                    self.start = self.at;
                    nodes.push(self.field());
                }
                // Go counts all decimal digits; only these can be read as a number then.
                next if matches!(next, '+' | '-') || next.is_ascii_digit() => nodes.push(self.number()?),
                next if is_of_word(next) => nodes.push(self.word()),
                _ => return None,
            }
        }
    }

    /// The name at the start. A backslash takes the next character as it is.
    fn field(&mut self) -> Node {
        while let Some(next) = self.peek().filter(|next| !is_terminator(*next)) {
            self.at += next.len_utf8();
            if next == '\\' {
                self.next();
            }
        }
        match self.consume() {
            "*" => Node::Wildcard,
            name => Node::Field(name.replace('\\', "").into()),
        }
    }

    fn word(&mut self) -> Node {
        while let Some(next) = self.peek().filter(|next| !is_terminator(*next)) {
            self.at += next.len_utf8();
        }
        match self.consume() {
            "true" => Node::Bool(true),
            "false" => Node::Bool(false),
            _ => Node::Word,
        }
    }

    fn number(&mut self) -> Option<Node> {
        if matches!(self.peek(), Some('+' | '-')) {
            self.at += 1;
        }
        while self.peek().is_some_and(|next| next == '.' || next.is_ascii_digit()) {
            self.at += 1;
        }
        let text = self.consume();
        match text.parse() {
            Ok(number) => Some(Node::Int(number)),
            Err(_) => text.parse().ok().map(Node::Float),
        }
    }

    fn quote(&mut self, quote: char) -> Option<Node> {
        self.at += 1;
        loop {
            match self.next()? {
                '\n' => return None,
                next if next == quote && !self.is_escaped() => break,
                _ => {}
            }
        }
        let quoted = self.consume();
        unquoted(&quoted[1..quoted.len() - 1], quote).map(|text| Node::Text(text.into()))
    }

    /// Whether a backslash stands before the character that was read last.
    fn is_escaped(&self) -> bool {
        self.at >= 2 && self.text.as_bytes()[self.at - 2] == b'\\'
    }

    /// What stands in brackets: reads from the opening bracket to the first closing one.
    fn array(&mut self) -> Option<Vec<Node>> {
        loop {
            match self.next()? {
                '\n' => return None,
                ']' => break,
                _ => {}
            }
        }
        let text = self.consume();
        let text = &text[1..text.len() - 1];
        let text = if text == "*" { ":" } else { text };
        if text.contains(',') {
            let paths = text.split(',').map(|part| action(&format!("[{}]", part.trim_matches(' '))));
            return Some(vec![Node::Union(paths.collect::<Option<_>>()?)]);
        }
        let key = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).filter(|key| !key.contains('\''));
        match key {
            Some(key) => action(&format!(".{key}")),
            None => slice(text).map(|slice| vec![Node::Slice(slice)]),
        }
    }

    fn filter(&mut self) -> Option<Node> {
        self.at += "[?(".len();
        self.start = self.at;
        let (mut opened, mut closed) = (None, false);
        loop {
            match self.next()? {
                '\n' => return None,
                quote @ ('"' | '\'') => match opened {
                    None => opened = Some(quote),
                    Some(own) => closed |= own == quote && !self.is_escaped(),
                },
                ')' if opened.is_some() == closed => break,
                _ => {}
            }
        }
        if self.next()? != ']' {
            return None;
        }
        let text = self.consume();
        let text = &text[..text.len() - ")]".len()];
        Some(Node::Filter(match compared(text) {
            None => Filter { left: action(text)?, operator: Operator::Exists, right: Vec::new() },
            Some((left, operator, right)) => {
                let operator = match operator {
                    "==" => Operator::Equal,
                    "!=" => Operator::NotEqual,
                    "<" => Operator::Less,
                    "<=" => Operator::LessOrEqual,
                    ">" => Operator::Greater,
                    ">=" => Operator::GreaterOrEqual,
                    _ => Operator::Unknown,
                };
                Filter { left: action(left)?, operator, right: action(right)? }
            }
        }))
    }
}

/// Splits at the first operator: client-go's `^([^!<>=]+)([!<>=~]+)(.+?)$`.
fn compared(text: &str) -> Option<(&str, &str, &str)> {
    let begin = text.find(['!', '<', '>', '='])?;
    let length = text[begin..].find(|letter| !matches!(letter, '!' | '<' | '>' | '=' | '~'));
    // The operator must leave something for the right side.
    let end = length.map_or(text.len() - 1, |length| begin + length);
    (begin > 0 && end > begin).then(|| (&text[..begin], &text[begin..end], &text[end..]))
}

/// `from:to:step`, where each may be missing: client-go's `^(-?[\d]*)(:-?[\d]*)?(:-?[\d]*)?$`.
fn slice(text: &str) -> Option<Slice> {
    let parts: Vec<&str> = text.split(':').collect();
    let number = |part: &str| if part.is_empty() { Some(None) } else { plain_number(part).map(Some) };
    let (from, to, step) = match parts[..] {
        [from] => (number(from)?, None, None),
        [from, to] => (number(from)?, Some(number(to)?), None),
        [from, to, step] => (number(from)?, Some(number(to)?), number(step)?),
        _ => return None,
    };
    Some(match to {
        Some(to) => Slice { from, to, derived: false, step },
        None => Slice { from, to: Some(from.unwrap_or(0).wrapping_add(1)), derived: true, step },
    })
}

fn plain_number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| text.parse().ok())?
}

/// What a quoted string means in Go, by strconv's `UnquoteChar`.
fn unquoted(text: &str, quote: char) -> Option<String> {
    let mut said = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            said.push(letter);
            continue;
        }
        let plain = match letters.as_str().chars().next()? {
            'a' => '\x07',
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            '\\' => '\\',
            own if own == quote => own,
            kind @ ('x' | 'u' | 'U' | '0'..='7') => {
                let number = match kind {
                    '0'..='7' => digits(&mut letters, 3, 8).filter(|number| *number < 256),
                    _ => {
                        letters.next();
                        digits(
                            &mut letters,
                            if kind == 'x' {
                                2
                            } else if kind == 'u' {
                                4
                            } else {
                                8
                            },
                            16,
                        )
                    }
                };
                // A byte that is no character by itself cannot be part of a string here; no name of a server has one.
                said.push(char::from_u32(number?)?);
                continue;
            }
            _ => return None,
        };
        letters.next();
        said.push(plain);
    }
    Some(said)
}

/// The number that some digits write.
fn digits(letters: &mut std::str::Chars<'_>, count: usize, radix: u32) -> Option<u32> {
    let text: String = letters.take(count).collect();
    let whole = text.len() == count && text.chars().all(|digit| digit.is_digit(radix));
    whole.then(|| u32::from_str_radix(&text, radix).ok())?
}

fn is_of_word(letter: char) -> bool {
    letter == '_' || letter.is_alphanumeric()
}

fn is_terminator(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\r' | '\n' | '.' | ',' | '[' | ']' | '$' | '@' | '{' | '}')
}
