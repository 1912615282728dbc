//! The form in which a client asks for objects: whole, as rows of a Table, or as metadata only.

use axum::http::{HeaderMap, header};
use kubechurn_client::api::time::Timestamp;

use crate::clock;
use crate::printers::table;
use crate::resources::object::Object;
use crate::resources::resource::Resource;
use crate::status::Status;

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Form {
    /// The objects themselves.
    Whole,
    /// `meta.k8s.io/v1` Table.
    Table(Include),
    /// `meta.k8s.io/v1` PartialObjectMetadata.
    Metadata,
}

/// How much of its object a Table's row includes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Include {
    /// Nothing.
    None,
    /// Its metadata.
    Metadata,
    /// The whole object.
    Object,
}

impl Form {
    /// The first form in an Accept header that this server supports; without a header, JSON.
    pub fn negotiate(headers: &HeaderMap, query: &str) -> Result<Self, Status> {
        let Some(accept) = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()) else {
            return Ok(Self::Whole);
        };
        if accept.trim().is_empty() {
            return Ok(Self::Whole);
        }
        let Some(form) = accept.split(',').find_map(Self::of_media_type) else { return Err(Status::not_acceptable()) };
        let Self::Table(_) = form else { return Ok(form) };
        let mut include = Include::Metadata;
        for (name, value) in form_urlencoded::parse(query.as_bytes()).filter(|(name, _)| name == "includeObject") {
            include = match &*value {
                "" | "Metadata" => Include::Metadata,
                "None" => Include::None,
                "Object" => Include::Object,
                other => return Err(Status::bad_request(format!("invalid {name} {other:?}"))),
            };
        }
        Ok(Self::Table(include))
    }

    fn of_media_type(one: &str) -> Option<Self> {
        let mut parts = one.split(';').map(str::trim);
        if !["application/json", "*/*", "application/*"].contains(&parts.next()?) {
            return None;
        }
        let (mut kind, mut group, mut version) = ("", "", "");
        for (name, value) in parts.filter_map(|part| part.split_once('=')) {
            match name {
                "as" => kind = value,
                "g" => group = value,
                "v" => version = value,
                _ => {}
            }
        }
        match (kind, group, version) {
            ("", ..) => Some(Self::Whole),
            ("Table", "meta.k8s.io", "v1") => Some(Self::Table(Include::Metadata)),
            ("PartialObjectMetadata" | "PartialObjectMetadataList", "meta.k8s.io", "v1") => Some(Self::Metadata),
            _ => None,
        }
    }

    /// Whether the real server writes lists in this form as maps, with alphabetical fields.
    pub fn is_map(self, resource: &Resource) -> bool {
        self == Self::Whole && resource.is_custom()
    }

    /// The text of a list before its first item, and after its last one.
    pub fn list_ends(self, resource: &Resource, metadata: &str) -> (String, String) {
        let (kind, api_version) = (&resource.kind, &resource.api_version);
        let head = match self {
            Self::Whole if self.is_map(resource) => {
                let tail = format!("],\"kind\":\"{kind}List\",\"metadata\":{metadata}}}");
                return (format!("{{\"apiVersion\":\"{api_version}\",\"items\":["), tail);
            }
            Self::Whole => {
                format!(
                    "{{\"kind\":\"{kind}List\",\"apiVersion\":\"{api_version}\",\"metadata\":{metadata},\"items\":["
                )
            }
            Self::Table(_) => format!(
                "{{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{metadata},\
                 \"columnDefinitions\":{},\"rows\":[",
                table::definitions(resource)
            ),
            Self::Metadata => format!(
                "{{\"kind\":\"PartialObjectMetadataList\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{metadata},\"items\":["
            ),
        };
        (head, "]}".to_owned())
    }

    /// Appends an object as an item of a list.
    pub fn push_item(self, resource: &Resource, object: &Object, text: &mut String) {
        match self {
            // Items of built-in lists have neither kind nor apiVersion; the kind of the list implies them.
            Self::Whole if !resource.is_custom() => {
                text.push('{');
                object.push_item_tail(text);
            }
            Self::Whole => text.push_str(&whole(resource, object)),
            Self::Table(include) => text.push_str(&row(resource, object, include, Timestamp(clock::now()))),
            Self::Metadata => text.push_str(&metadata_of(object)),
        }
    }

    /// An object as a GET answers it and a watch event carries it. With `with_columns`, a Table includes its column
    /// definitions.
    pub fn object(self, resource: &Resource, object: &Object, with_columns: bool) -> String {
        match self {
            Self::Whole => whole(resource, object),
            Self::Table(include) => {
                let columns = if with_columns { table::definitions(resource).to_string() } else { "null".to_owned() };
                format!(
                    "{{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{{\"resourceVersion\":\"{}\"}},\
                     \"columnDefinitions\":{columns},\"rows\":[{}]}}",
                    object.revision,
                    row(resource, object, include, Timestamp(clock::now()))
                )
            }
            Self::Metadata => metadata_of(object),
        }
    }

    /// The object of a bookmark; `metadata` is the text between the braces.
    pub fn bookmark(self, resource: &Resource, metadata: &str) -> String {
        match self {
            Self::Whole if resource.is_custom() => {
                // In this form annotations come before the version; they are the rest of the text between the braces.
                let (version, rest) = metadata.split_once(',').unwrap_or((metadata, ""));
                let metadata = if rest.is_empty() { version.to_owned() } else { format!("{rest},{version}") };
                format!("{{{},\"metadata\":{{{metadata}}}}}", custom_head(resource))
            }
            Self::Whole => format!(
                "{{\"kind\":\"{}\",\"apiVersion\":\"{}\",\"metadata\":{{{metadata}}}{}}}",
                resource.kind, resource.api_version, resource.bookmark_fields
            ),
            Self::Table(_) => format!(
                "{{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{{{metadata}}},\
                 \"columnDefinitions\":null,\"rows\":[]}}"
            ),
            Self::Metadata => format!(
                "{{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",\"metadata\":{{{metadata}}}}}"
            ),
        }
    }
}

/// The object in the version of the resource. Versions differ in their name alone.
fn whole(resource: &Resource, object: &Object) -> String {
    if !resource.is_custom() {
        return object.text();
    }
    let mut text = format!("{{{},", custom_head(resource));
    object.push_item_tail(&mut text);
    text
}

/// `apiVersion` and `kind` of a custom resource, in the order of a map in Go.
fn custom_head(resource: &Resource) -> String {
    let text = |text: &str| serde_json::Value::from(text).to_string();
    format!("\"apiVersion\":{},\"kind\":{}", text(&resource.api_version), text(&resource.kind))
}

fn row(resource: &Resource, object: &Object, include: Include, now: Timestamp) -> String {
    let shown = match include {
        Include::None => "null".to_owned(),
        Include::Metadata => metadata_of(object),
        Include::Object => whole(resource, object),
    };
    format!("{{\"cells\":{},\"object\":{shown}}}", table::cells(resource, object, now))
}

fn metadata_of(object: &Object) -> String {
    format!("{{\"kind\":\"PartialObjectMetadata\",\"apiVersion\":\"meta.k8s.io/v1\",{}}}", object.metadata())
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn check(accept: &str, query: &str, expected: Option<Form>) {
        let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_str(accept).unwrap())]);
        assert_eq!(Form::negotiate(&headers, query).ok(), expected, "{accept} {query}");
    }

    #[test]
    fn the_first_form_that_is_known() {
        let kubectl = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json";
        check(kubectl, "", Some(Form::Table(Include::Metadata)));
        check(kubectl, "includeObject=Object", Some(Form::Table(Include::Object)));
        check(kubectl, "includeObject=None", Some(Form::Table(Include::None)));
        check(kubectl, "includeObject=All", None);
        check("application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1", "", Some(Form::Metadata));
        check("application/vnd.kubernetes.protobuf,application/json", "", Some(Form::Whole));
        check("application/json;as=Nothing;v=v1;g=meta.k8s.io,*/*", "", Some(Form::Whole));
        check("", "", Some(Form::Whole));
        for nothing in ["application/json;as=Table;v=v1beta1;g=meta.k8s.io", "application/yaml", "text/html"] {
            check(nothing, "", None);
        }
    }
}
