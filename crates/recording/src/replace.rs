//! Replaces names, addresses and images by others, before a recording leaves the page: the same one always by the same one.
//!
//! What is a name, a host name or an image is learned from where it stands: the names of objects and what refers to them, the
//! members for hosts and the hosts of URLs, the members for images. Then each word of each text that is one of them is replaced,
//! wherever it stands, also in messages and in copies of an object. So all texts must be learned before the first one is replaced.

use std::borrow::Cow;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use rustc_hash::FxHashMap;

/// What is replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// The names of objects, those of namespaces and nodes among them.
    pub names: bool,
    /// IP addresses and host names.
    pub addresses: bool,
    /// The repositories of images. Their tags and digests stay.
    pub images: bool,
}

impl Rules {
    /// Whether nothing is replaced.
    pub fn are_none(self) -> bool {
        self == Rules::default()
    }

    /// What was replaced, in words for the header of a file.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let all = [
            (self.names, "names of objects, namespaces and nodes, replaced"),
            (self.addresses, "addresses and host names, replaced"),
            (self.images, "repositories of images, replaced"),
        ];
        all.into_iter().filter(|(is_applied, _)| *is_applied).map(|(_, words)| words)
    }
}

/// Names that every cluster has.
const COMMON: [&str; 11] = [
    "default",
    "kube-system",
    "kube-public",
    "kube-node-lease",
    "kubernetes",
    "kube-root-ca.crt",
    "default-scheduler",
    "system-cluster-critical",
    "system-node-critical",
    "cluster-admin",
    "localhost",
];
/// Members within which `name` is that of another object; and all that end with `Ref`.
const REFERENCES: [&str; 12] = [
    "metadata",
    "ownerReferences",
    "involvedObject",
    "regarding",
    "related",
    "subjects",
    "imagePullSecrets",
    "secrets",
    "secret",
    "configMap",
    "service",
    "backend",
];
/// Members that have the name of another object; and all that end with `Name`.
const NAMES: [&str; 5] = ["namespace", "serviceAccount", "generateName", "reportingInstance", "nodeName"];
/// Members that have a host.
const HOSTS: [&str; 7] = ["host", "hosts", "hostname", "hostName", "externalName", "address", "dnsNames"];
/// Members whose values are words of Kubernetes.
const FIXED: [&str; 13] = [
    "apiVersion",
    "kind",
    "uid",
    "resourceVersion",
    "subresource",
    "fieldPath",
    "fieldsType",
    "apiGroup",
    "apiGroups",
    "group",
    "version",
    "resources",
    "verbs",
];
/// Members whose own members are named by the user.
const FREE: [&str; 6] = ["labels", "annotations", "matchLabels", "nodeSelector", "data", "binaryData"];
/// The letters of which Kubernetes makes the ends of names.
const GENERATED: &str = "bcdfghjklmnpqrstvwxz2456789";
/// The longest name that an object can have: https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
const LONGEST: usize = 253;
/// How many of what is replaced are shown.
const EXAMPLES: usize = 3;

/// What is replaced by what. Each has its number, from 1.
#[derive(Debug, Default)]
struct Known {
    numbers: FxHashMap<String, usize>,
    /// The first ones.
    first: Vec<String>,
}

impl Known {
    fn learn(&mut self, word: &str) -> usize {
        if let Some(number) = self.numbers.get(word) {
            return *number;
        }
        let number = self.numbers.len() + 1;
        self.numbers.insert(word.to_owned(), number);
        if self.first.len() < EXAMPLES {
            self.first.push(word.to_owned());
        }
        number
    }

    /// How many there are, and the first ones with what they become.
    fn words(&self, title: &str, new: &dyn Fn(&str, usize) -> String) -> String {
        let first = self.first.iter().zip(1..).map(|(word, number)| format!("{word} → {}", new(word, number)));
        let among = if self.first.is_empty() { "" } else { ", among them " };
        format!("{title}: {}{among}{}", self.numbers.len(), first.collect::<Vec<_>>().join(", "))
    }
}

/// Replaces what it has learned.
#[derive(Debug, Default)]
pub struct Replacer {
    rules: Rules,
    names: Known,
    hosts: Known,
    addresses: Known,
    images: Known,
}

/// A string of a JSON text.
struct Place<'a> {
    /// The member that encloses the member.
    parent: &'a str,
    /// The member, whether the string is its name or its value or among its items.
    member: &'a str,
    is_name: bool,
}

impl Replacer {
    /// Replaces by these rules.
    pub fn new(rules: Rules) -> Replacer {
        Replacer { rules, ..Replacer::default() }
    }

    /// The rules.
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Learns the name of an object, and the one of which Kubernetes has made it.
    pub fn learn_name(&mut self, name: &str) {
        let is_common = name.is_empty() || COMMON.contains(&name) || name.starts_with("system:");
        if !self.rules.names || is_common || name.len() > LONGEST || self.names.numbers.contains_key(name) {
            return;
        }
        if let Some(at) = name.rfind(['-', '.']).filter(|at| is_generated(&name[at + 1..])) {
            self.learn_name(&name[..at]);
        }
        self.names.learn(name);
    }

    /// Learns what is to be replaced in the JSON text of an object.
    pub fn learn(&mut self, text: &str) {
        each_string(text, &mut |string, Place { parent, member, is_name }| {
            if is_name {
                return;
            }
            let is_reference = member == "name" && (REFERENCES.contains(&parent) || parent.ends_with("Ref"));
            if is_reference || NAMES.contains(&member) || (member.ends_with("Name") && !HOSTS.contains(&member)) {
                self.learn_name(string.trim_end_matches('-'));
            }
            if member == "host" && parent == "source" {
                self.learn_name(string);
            }
            if self.rules.addresses {
                if HOSTS.contains(&member) {
                    self.learn_host(string);
                }
                for (at, _) in string.match_indices("://") {
                    let host = host_of(&string[at + 3..]);
                    if host.contains('.') {
                        self.learn_host(host);
                    }
                }
            }
            let is_image = matches!(member, "image" | "imageID") || (member == "names" && parent == "images");
            if let Some(repository) = repository(string).filter(|_| self.rules.images && is_image) {
                self.images.learn(repository);
            }
        });
    }

    fn learn_host(&mut self, host: &str) {
        let is_word = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-'));
        let is_name = host.bytes().any(|byte| byte.is_ascii_alphabetic()) && !COMMON.contains(&host);
        if is_word && is_name {
            self.hosts.learn(host);
        }
    }

    /// The JSON text of an object, with others in place of what was learned.
    pub fn replace<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        if self.rules.are_none() {
            return Cow::Borrowed(text);
        }
        let (mut out, mut done) = (String::new(), 0);
        each_string(text, &mut |string, Place { parent, member, is_name }| {
            let is_free = FREE.contains(&parent.strip_prefix("f:").unwrap_or(parent));
            let is_key = member.starts_with("k:{") || member.starts_with("v:");
            if if is_name { is_free || is_key } else { is_free || !FIXED.contains(&member) } {
                let is_image = !is_name && matches!(member, "image" | "imageID");
                if let Cow::Owned(new) = self.replace_in(string, is_image) {
                    let at = string.as_ptr() as usize - text.as_ptr() as usize;
                    out.push_str(&text[done..at]);
                    out.push_str(&new);
                    done = at + string.len();
                }
            }
        });
        if done == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }

    /// Words, with others in place of what was learned.
    pub fn words<'a>(&mut self, words: &'a str) -> Cow<'a, str> {
        if self.rules.are_none() { Cow::Borrowed(words) } else { self.replace_in(words, false) }
    }

    /// How many there are of each rule that is applied, with the first ones and what they become, in words.
    pub fn found(&self) -> Vec<String> {
        let Rules { names, addresses, images } = self.rules;
        let mut found = Vec::new();
        if names {
            found.push(self.names.words("names", &|word, _| self.name(word).unwrap_or_default()));
        }
        if addresses {
            let address =
                |word: &str, number| word.parse().map_or_else(|_| String::new(), |was| address_for(was, number));
            found.push(self.addresses.words("addresses", &address));
            found.push(self.hosts.words("hosts", &|word, number| host_for(number, word)));
        }
        if images {
            found.push(self.images.words("images", &|_, number| image_for(number)));
        }
        found
    }

    /// Replaces in a string as it stands in JSON, or in plain words: what is between the signs that no name, address or image has.
    fn replace_in<'a>(&mut self, string: &'a str, is_image: bool) -> Cow<'a, str> {
        if let Some(new) = self.name(string) {
            return Cow::Owned(new);
        }
        let (mut out, mut done, mut at) = (String::new(), 0, 0);
        let bytes = string.as_bytes();
        while at < bytes.len() {
            if bytes[at] == b'\\' {
                at = after_escape(string, at);
                continue;
            }
            let end = at + bytes[at..].iter().take_while(|byte| is_of_word(**byte)).count();
            if end == at {
                at += 1;
                continue;
            }
            let (run, rest) = (&string[at..end], &string[end..]);
            // The member of an object that stands in a string. After the colon in a sentence is a blank.
            let value = rest.trim_start_matches('\\').strip_prefix("\":");
            let is_member = value.is_some_and(|value| !value.starts_with(' '));
            if !is_member {
                let before = string[..at].trim_end_matches(['"', '\\']);
                let new = self.word(run, is_image || before.ends_with("image "));
                if let Cow::Owned(new) = new {
                    out.push_str(&string[done..at]);
                    out.push_str(&new);
                    done = end;
                }
            }
            at = end;
        }
        if done == 0 {
            return Cow::Borrowed(string);
        }
        out.push_str(&string[done..]);
        Cow::Owned(out)
    }

    /// Replaces a run of letters, digits, and the signs that names, addresses, URLs and images have in them.
    fn word<'a>(&mut self, run: &'a str, is_image: bool) -> Cow<'a, str> {
        if let Some((scheme, rest)) = run.split_once("://") {
            let host = host_of(rest);
            let is_replaced = self.rules.addresses && !host.is_empty() && !COMMON.contains(&host);
            let new = self.token(host).or_else(|| {
                let is_name = host.bytes().any(|byte| byte.is_ascii_alphabetic());
                (is_replaced && is_name).then(|| host_for(self.hosts.learn(host), host))
            });
            let before = rest.len() - host_part(rest).len();
            let after = &host_part(rest)[host.len()..];
            let host = new.map_or(Cow::Borrowed(host), Cow::Owned);
            return Cow::Owned(format!("{scheme}://{}{host}{}", &rest[..before], self.word(after, false)));
        }
        let trimmed = run.trim_end_matches(['.', ':', ',']);
        if let Some(repository) =
            repository(trimmed).filter(|one| is_image || one.contains('/') || one.len() < trimmed.len())
            && let Some(number) = self.images.numbers.get(repository)
        {
            return Cow::Owned(format!("{}{}", image_for(*number), &run[repository.len()..]));
        }
        if let Some(new) = self.name(run) {
            return Cow::Owned(new);
        }
        let (mut out, mut is_new) = (String::with_capacity(run.len()), false);
        for part in run.split_inclusive('/') {
            let (part, slash) = part.strip_suffix('/').map_or((part, ""), |part| (part, "/"));
            if let Some(new) = self.address(part) {
                out.push_str(&new);
                is_new = true;
            } else {
                for token in part.split_inclusive([':', '@', '_']) {
                    let bare = token.trim_end_matches([':', '@', '_', '.', '-']);
                    let new = self.token(bare);
                    is_new |= new.is_some();
                    out.push_str(new.as_deref().unwrap_or(bare));
                    out.push_str(&token[bare.len()..]);
                }
            }
            out.push_str(slash);
        }
        if is_new { Cow::Owned(out) } else { Cow::Borrowed(run) }
    }

    /// What takes the place of a name, an address or a host; `None` for what is none.
    fn token(&mut self, token: &str) -> Option<String> {
        if let Some(new) = self.name(token).or_else(|| self.address(token)) {
            return Some(new);
        }
        if let Some(number) = self.hosts.numbers.get(token) {
            return Some(host_for(*number, token));
        }
        // A name within the cluster's DNS, a part of a path in an object.
        let mut is_new = false;
        let labels: Vec<Cow<'_, str>> = token
            .split('.')
            .map(|label| self.name(label).map_or(Cow::Borrowed(label), Cow::Owned))
            .inspect(|label| is_new |= matches!(label, Cow::Owned(_)))
            .collect();
        (is_new && labels.len() > 1).then(|| labels.join("."))
    }

    /// What takes the place of a name. One that Kubernetes has made of another name keeps its end.
    fn name(&self, name: &str) -> Option<String> {
        if self.names.numbers.is_empty() || name.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let number = self.names.numbers.get(name)?;
        let made = name.rfind(['-', '.']).filter(|at| is_generated(&name[at + 1..]));
        let of = made.and_then(|at| Some((self.name(&name[..at])?, &name[at..])));
        Some(of.map_or_else(|| format!("name-{number}"), |(of, end)| format!("{of}{end}")))
    }

    /// What takes the place of an IP address; `None` for what is none, and for those that every machine has.
    fn address(&mut self, word: &str) -> Option<String> {
        let is_address = self.rules.addresses && word.len() > 1 && word.contains(['.', ':']);
        let address: IpAddr = word.parse().ok().filter(|_| is_address)?;
        if address.is_loopback() || address.is_unspecified() || address.is_multicast() {
            return None;
        }
        Some(address_for(address, self.addresses.learn(word)))
    }
}

/// An address of those that are meant for measurements and examples.
fn address_for(was: IpAddr, number: usize) -> String {
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    match was {
        IpAddr::V4(_) => Ipv4Addr::from_bits(u32::from_be_bytes([198, 18, 0, 0]).wrapping_add(number)).to_string(),
        IpAddr::V6(_) => Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(number)).to_string(),
    }
}

fn image_for(number: usize) -> String {
    format!("registry.example/image-{number}")
}

fn host_for(number: usize, host: &str) -> String {
    format!("host-{number}{}", if host.contains('.') { ".example" } else { "" })
}

/// Whether Kubernetes makes such an end of a name: a number, or letters that make no words.
fn is_generated(end: &str) -> bool {
    let is_number = (1..=10).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_digit());
    let is_random = matches!(end.len(), 5 | 8..=10) && end.chars().all(|letter| GENERATED.contains(letter));
    let is_hex = end.len() >= 14 && end.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number || is_random || is_hex
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'/' | b':' | b'@' | b'-')
}

/// The repository of an image, without its tag and its digest; `None` for a digest alone.
fn repository(image: &str) -> Option<&str> {
    let image = image.split('@').next().unwrap_or_default();
    let from = image.rfind('/').map_or(0, |slash| slash + 1);
    let end = image[from..].find(':').map_or(image.len(), |colon| from + colon);
    let repository = &image[..end];
    (!repository.is_empty() && repository != "sha256").then_some(repository)
}

/// What follows the user in what stands behind the scheme of a URL.
fn host_part(rest: &str) -> &str {
    let end = rest.find('/').unwrap_or(rest.len());
    rest[..end].rfind('@').map_or(rest, |at| &rest[at + 1..])
}

/// The host in what stands behind the scheme of a URL.
fn host_of(rest: &str) -> &str {
    let part = host_part(rest);
    let is_of_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-');
    &part[..part.bytes().take_while(|byte| is_of_host(*byte)).count()]
}

/// Where what follows an escape begins, also one that stands in a JSON text within the text.
fn after_escape(string: &str, at: usize) -> usize {
    let bytes = string.as_bytes();
    let mut end = at;
    while bytes.get(end) == Some(&b'\\') {
        end += 1;
    }
    end + match bytes.get(end) {
        Some(b'u') => 5.min(bytes.len() - end),
        Some(b'n' | b'r' | b't' | b'b' | b'f' | b'"' | b'/') => 1,
        _ => 0,
    }
}

/// Hands over each string of a JSON text, without its quotes and as it is escaped there.
fn each_string<'a>(text: &'a str, each: &mut dyn FnMut(&'a str, Place<'a>)) {
    let bytes = text.as_bytes();
    let (mut parents, mut member, mut at): (Vec<&'a str>, &'a str, usize) = (Vec::new(), "", 0);
    while at < bytes.len() {
        match bytes[at] {
            b'{' => parents.push(member),
            b'}' => member = parents.pop().unwrap_or_default(),
            b'"' => {
                let from = at + 1;
                at = from;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                let string = text.get(from..at).unwrap_or_default();
                let is_name = text.get(at + 1..).is_some_and(|rest| rest.trim_start().starts_with(':'));
                if is_name {
                    member = string;
                }
                each(string, Place { parent: parents.last().copied().unwrap_or_default(), member, is_name });
            }
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Rules = Rules { names: true, addresses: true, images: true };

    fn replaced(texts: &[&str], rules: Rules) -> Vec<String> {
        let mut replacer = Replacer::new(rules);
        texts.iter().for_each(|text| replacer.learn(text));
        texts.iter().map(|text| replacer.replace(text).into_owned()).collect()
    }

    #[test]
    fn a_name_is_the_same_one_wherever_it_stands_and_made_ones_follow_it() {
        let deployment = r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"payroll","namespace":"acme","labels":{"app":"payroll"}},"spec":{"template":{"spec":{"containers":[{"name":"payroll","image":"payroll:2"}]}}}}"#;
        let set = r#"{"metadata":{"name":"payroll-7c9d5b6f4","namespace":"acme","ownerReferences":[{"kind":"Deployment","name":"payroll"}]}}"#;
        let pod = r#"{"metadata":{"name":"payroll-7c9d5b6f4-x2w4z","namespace":"acme","managedFields":[{"fieldsV1":{"f:spec":{"k:{\"name\":\"payroll\"}":{}}}}]},"spec":{"nodeName":"rack-12","serviceAccountName":"default"}}"#;
        let event = r#"{"kind":"Event","message":"Successfully assigned acme/payroll-7c9d5b6f4-x2w4z to rack-12\nby payroll.acme.svc","involvedObject":{"kind":"Pod","name":"payroll-7c9d5b6f4-x2w4z","uid":"payroll"}}"#;
        let done = replaced(&[deployment, set, pod, event], Rules { names: true, ..Rules::default() });
        let all = done.join("\n");
        assert!(
            !all.replace(r#""uid":"payroll""#, "").contains("payroll")
                && !all.contains("acme")
                && !all.contains("rack"),
            "{all}"
        );
        assert!(done[0].contains(r#""name":"name-1","namespace":"name-2","labels":{"app":"name-1"}"#), "{all}");
        assert!(
            done[0].contains(r#""apiVersion":"apps/v1""#) && done[1].contains(r#""name":"name-1-7c9d5b6f4""#),
            "{all}"
        );
        assert!(done[2].contains("default") && done[2].contains(r#"k:{\"name\":\"name-1\"}"#), "{all}");
        assert!(
            done[3].contains(r"assigned name-2/name-1-7c9d5b6f4-x2w4z to name-5-12\nby name-1.name-2.svc"),
            "{all}"
        );
        done.iter().for_each(|text| assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{text}"));
    }

    #[test]
    fn what_ends_in_a_word_has_a_name_of_its_own() {
        let texts = [
            r#"{"metadata":{"name":"acme"}}"#,
            r#"{"metadata":{"name":"acme-salaries"}}"#,
            r#"{"metadata":{"name":"acme-0"}}"#,
        ];
        let done = replaced(&texts, ALL);
        assert_eq!(done[1], r#"{"metadata":{"name":"name-2"}}"#);
        assert_eq!(done[2], r#"{"metadata":{"name":"name-1-0"}}"#);
        // What is named as members are, leaves them as they are.
        let odd = replaced(&[r#"{"metadata":{"name":"status"},"status":{"phase":"status"}}"#], ALL);
        assert_eq!(odd[0], r#"{"metadata":{"name":"name-1"},"status":{"phase":"name-1"}}"#);
    }

    #[test]
    fn addresses_become_others_of_their_kind() {
        let pod = r#"{"status":{"podIP":"10.244.3.7","podIPs":[{"ip":"fd00:10::7"}],"hostIP":"172.18.0.2"},"metadata":{"managedFields":[{"fieldsV1":{"k:{\"ip\":\"10.244.3.7\"}":{}}}]}}"#;
        let node = r#"{"spec":{"podCIDR":"10.244.3.0/24"},"status":{"addresses":[{"type":"Hostname","address":"rack-12"},{"type":"InternalIP","address":"172.18.0.2"}]}}"#;
        let other = r#"{"spec":{"rules":[{"host":"pay.acme.com"}],"tls":[{"hosts":["pay.acme.com"]}]},"message":"Get \"http://10.244.3.7:8080/ready\": dial tcp 127.0.0.1:80, https://user@db.acme.com/x on rack-12, at 12:30:45 of v1.2.3"}"#;
        let done = replaced(&[pod, node, other], Rules { addresses: true, ..Rules::default() });
        let all = done.join("\n");
        for gone in ["10.244.3", "fd00", "172.18.0.2", "rack", "acme"] {
            assert!(!all.contains(gone), "{gone} {all}");
        }
        assert!(done[0].contains(r#""podIP":"198.18.0.1""#) && done[0].contains(r#""ip":"2001:db8::2""#), "{all}");
        assert!(done[0].contains(r#"k:{\"ip\":\"198.18.0.1\"}"#) && done[1].contains("/24"), "{all}");
        assert!(done[2].contains(r#"http://198.18.0.1:8080/ready\": dial tcp 127.0.0.1:80"#), "{all}");
        assert!(done[2].contains("https://user@host-3.example/x on host-1, at 12:30:45 of v1.2.3"), "{all}");
    }

    #[test]
    fn images_keep_their_tags_and_digests() {
        let pod = r#"{"metadata":{"annotations":{"copy":"{\"image\":\"registry.acme.com:5000/team/pay:1.4\"}"}},"spec":{"containers":[{"image":"registry.acme.com:5000/team/pay:1.4"},{"image":"nginx"}]},"status":{"containerStatuses":[{"imageID":"registry.acme.com:5000/team/pay@sha256:0a1b"},{"imageID":"sha256:77"}]}}"#;
        let event =
            r#"{"message":"Pulling image \"registry.acme.com:5000/team/pay:1.4\" and image \"nginx\"; nginx starts"}"#;
        let node = r#"{"status":{"images":[{"names":["registry.acme.com:5000/team/pay@sha256:0a1b"],"sizeBytes":7}]}}"#;
        let done = replaced(&[pod, event, node], Rules { images: true, ..Rules::default() });
        let all = done.join("\n");
        assert!(!all.contains("acme") && !all.contains("pay"), "{all}");
        assert!(done[0].contains(r#"{\"image\":\"registry.example/image-1:1.4\"}"#), "{all}");
        assert!(
            done[0].contains(r#""imageID":"registry.example/image-1@sha256:0a1b"},{"imageID":"sha256:77""#),
            "{all}"
        );
        assert!(done[1].contains(r#"image \"registry.example/image-2\"; nginx starts"#), "{all}");
    }

    #[test]
    fn any_text_is_taken() {
        for text in
            ["", "\"", "{\"", r#"{"a":"\"#, r#"{"image":"@"}"#, "}}{{", r#"{"name":"://"}"#, r#"{"host":"ä://ü"}"#]
        {
            let mut replacer = Replacer::new(ALL);
            replacer.learn_name("a");
            replacer.learn(text);
            replacer.replace(text);
            replacer.words(text);
        }
        // A name of many ends.
        let text = format!(r#"{{"otherName":"web{}"}}"#, "-1".repeat(1_000_000));
        assert_eq!(replaced(&[&text], ALL), [text]);
        let mut replacer = Replacer::new(ALL);
        replacer.learn(r#"{"metadata":{"name":"web"},"image":"web:1","podIP":"10.0.0.1"}"#);
        replacer.words("10.0.0.1");
        let found = [
            "names: 1, among them web → name-1",
            "addresses: 1, among them 10.0.0.1 → 198.18.0.1",
            "hosts: 0",
            "images: 1, among them web → registry.example/image-1",
        ];
        assert_eq!(replacer.found(), found);
        assert!(matches!(Replacer::new(Rules::default()).replace(r#"{"image":"web"}"#), Cow::Borrowed(_)));
    }
}
