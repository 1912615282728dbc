//! What a line says.

use std::borrow::Cow;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;

/// What a recording is, and where it is from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Header {
    /// What the user called it; may be empty.
    pub title: String,
    /// Which program wrote it, with its version.
    pub program: String,
    /// The address of the API server.
    pub server: String,
    /// The release of the API server, such as `v1.36.2`; empty where it is not known.
    pub release: String,
    /// By how many milliseconds the API server's clock was ahead of the one by which the times of the lines were taken.
    pub ahead: f64,
    /// What was made unreadable, in words; empty for nothing but the values of Secrets, which are never in a file.
    pub redaction: Vec<String>,
}

/// A watch: what is received of a resource in a scope.
#[derive(Clone, Debug, PartialEq)]
pub struct Watch {
    /// Its number in the file.
    pub number: u32,
    /// The resource. Its cluster is empty for the first one.
    pub resource: ApiResource,
    /// Which of its objects are watched.
    pub scope: Scope,
    /// Whether it began in an earlier block, and is repeated so that this one can be read alone.
    pub is_repeated: bool,
}

/// What happened to a watch.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Its first list was complete.
    Listed,
    /// Everything begins to be listed again, for this reason. What that list brings counts when it is complete.
    Lists(String),
    /// Such a list was complete.
    Relisted,
    /// The server is not heard, since this time in milliseconds, for this reason.
    Lost(f64, String),
    /// Nothing was heard since this time in milliseconds, and now the watch is whole again.
    Gap(f64, String),
    /// The server refused a list or a watch, in its words.
    Refused(String),
    /// It ended.
    Ended,
}

/// What is known of the text of a version.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Text<'a> {
    /// The object as the server sent it, but for what was made unreadable.
    Whole(&'a str),
    /// There is none: only a list that did not name the object showed that it was gone.
    None,
    /// It is not kept any more, or was too large to be kept.
    NotKept,
}

/// A version of an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Version<'a> {
    /// The number of its watch.
    pub watch: u32,
    /// What happened. What a list brought is [`DeltaType::Replaced`].
    pub delta_type: DeltaType,
    /// The object's key.
    pub key: &'a ObjectKey,
    /// The object's uid.
    pub uid: &'a Uid,
    /// Its text.
    pub text: Text<'a>,
}

/// Who made the request that led to a version, as an audit log has it: of a deletion, who asked for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Request<'a> {
    /// The number of the version's watch.
    pub watch: u32,
    /// The object's uid.
    pub uid: Uid,
    /// The version's resourceVersion; empty where a deletion has none.
    pub version: Cow<'a, str>,
    /// Whether the version is a deletion.
    pub is_deletion: bool,
    /// The user.
    pub user: Cow<'a, str>,
    /// As whom the user made the request; empty for nobody else.
    pub impersonated: Cow<'a, str>,
    /// The `User-Agent`.
    pub agent: Cow<'a, str>,
    /// The address from which it came.
    pub address: Cow<'a, str>,
    /// The verb.
    pub verb: Cow<'a, str>,
    /// When the server received it, in milliseconds since 1970, by its clock.
    pub at: f64,
    /// The id of the line; empty where it is not certain which of several it is.
    pub id: Cow<'a, str>,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq)]
pub enum Line<'a> {
    /// The first line of the first block: what the recording is.
    Header(Header),
    /// A watch began.
    Watch(Watch),
    /// Something happened to the watch with this number.
    Step(u32, Step),
    /// A version was received.
    Version(Version<'a>),
    /// The text of a CustomResourceDefinition, which names the columns of its resource.
    Definition(&'a str),
    /// What somebody noted.
    Note(&'a str),
    /// Who made the request that led to a version which a line before has.
    Request(Request<'a>),
}
