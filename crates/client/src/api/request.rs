//! The requests to the API server: paths and queries of LIST and WATCH.

use form_urlencoded::Serializer;

use crate::api::object::ResourceVersion;
use crate::api::resource::ApiResource;

/// Which objects of a resource are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The namespace; empty for all namespaces, and for cluster-wide kinds.
    pub namespace: String,
    /// In kubectl's grammar; empty for all.
    pub label_selector: String,
    /// In kubectl's grammar; empty for all.
    pub field_selector: String,
}

impl Scope {
    /// The label selector and the field selector.
    pub fn selectors(&self) -> [&str; 2] {
        [&self.label_selector, &self.field_selector]
    }
}

/// The request for a page of a LIST.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRequest {
    /// Unset asks for the newest state, `0` for any state that the server has cached, and a version for that one or a newer
    /// one.
    pub resource_version: ResourceVersion,
    /// The most items that a page may have; `None` for all.
    pub limit: Option<u32>,
    /// The token of the page before. The version is not sent together with a token.
    pub continue_token: Option<String>,
}

/// The request for a page of a LIST as of exactly one version, to compare it with what is held at that version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExactListRequest {
    /// The version; it has to be one that an object, a list or a bookmark had.
    pub resource_version: ResourceVersion,
    /// The most items that a page may have.
    pub limit: u32,
    /// The token of the page before. The version is not sent together with a token, which holds it.
    pub continue_token: Option<String>,
}

/// The request for a WATCH.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchRequest {
    /// The version after which the watch begins; unset begins with the newest state.
    pub resource_version: ResourceVersion,
    /// Whether to ask for a streaming list: first what exists, then a bookmark that says that this was all, then the watch.
    pub initial_events: bool,
    /// After how many seconds the server is to end the watch.
    pub timeout_seconds: u32,
}

/// The path of a resource's collection below the API's base, without a leading slash.
pub fn path(resource: &ApiResource, scope: &Scope) -> String {
    let mut path = if resource.group.is_empty() {
        format!("api/{}/", resource.version)
    } else {
        format!("apis/{}/{}/", resource.group, resource.version)
    };
    if resource.namespaced && !scope.namespace.is_empty() {
        path.push_str("namespaces/");
        path.extend(form_urlencoded::byte_serialize(scope.namespace.as_bytes()));
        path.push('/');
    }
    path.push_str(resource.plural);
    path
}

/// What the answer to [`ListRequest::count`] and [`ExactListRequest`] may be: metadata alone where the server can leave out the rest.
pub const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

impl ListRequest {
    /// Asks how many items there are: the answer to a request for one item says how many remain. No version is sent, for a
    /// server ignores the limit where any cached state is enough.
    pub fn count() -> ListRequest {
        ListRequest { resource_version: ResourceVersion::default(), limit: Some(1), continue_token: None }
    }

    /// The path and query of this page. It has `pretty=false`, because servers answer a browser's User-Agent with indented
    /// JSON otherwise.
    pub fn url(&self, resource: &ApiResource, scope: &Scope) -> String {
        let mut query = begin(resource, scope);
        query.pair("pretty", "false");
        if let Some(limit) = self.limit {
            query.pair("limit", &limit.to_string());
        }
        match &self.continue_token {
            Some(token) => {
                query.pair("continue", token);
            }
            None if !self.resource_version.is_unset() => {
                query.pair("resourceVersion", self.resource_version.as_str());
                if self.resource_version.as_str() != "0" {
                    query.pair("resourceVersionMatch", "NotOlderThan");
                }
            }
            None => {}
        }
        query.end()
    }
}

impl ExactListRequest {
    /// The path and query of this page. Servers refuse `resourceVersionMatch` together with a token.
    pub fn url(&self, resource: &ApiResource, scope: &Scope) -> String {
        let mut query = begin(resource, scope);
        query.pair("pretty", "false").pair("limit", &self.limit.to_string());
        match &self.continue_token {
            Some(token) => query.pair("continue", token),
            None => query.pair("resourceVersion", self.resource_version.as_str()).pair("resourceVersionMatch", "Exact"),
        };
        query.end()
    }
}

impl WatchRequest {
    /// The path and query of this watch, the same for a socket and for a fetch.
    pub fn url(&self, resource: &ApiResource, scope: &Scope) -> String {
        let mut query = begin(resource, scope);
        query.pair("watch", "true").pair("allowWatchBookmarks", "true");
        if !self.resource_version.is_unset() {
            query.pair("resourceVersion", self.resource_version.as_str());
        }
        if self.initial_events {
            query.pair("sendInitialEvents", "true").pair("resourceVersionMatch", "NotOlderThan");
        }
        query.pair("timeoutSeconds", &self.timeout_seconds.to_string());
        query.end()
    }

    /// The same watch for one second, to be fetched over HTTP. A browser does not say why a WebSocket was refused; and a GET
    /// of the list would not say it either, for LIST and WATCH are allowed separately.
    pub fn probe(&self) -> WatchRequest {
        WatchRequest { timeout_seconds: 1, ..self.clone() }
    }
}

/// The path and query of a streaming list of objects that are called `none`, of which there is normally not one: an API server
/// answers it at once with the bookmark that ends such a list. So a socket shows whether a server answers that has the
/// resource.
pub fn presence(resource: &ApiResource, namespace: &str) -> String {
    let field_selector = String::from("metadata.name=none");
    let scope = Scope { namespace: namespace.to_owned(), field_selector, ..Scope::default() };
    WatchRequest { resource_version: ResourceVersion::default(), initial_events: true, timeout_seconds: 1 }
        .url(resource, &scope)
}

/// A URL whose query is being written.
struct Query(Serializer<'static, String>);

impl Query {
    /// Adds a parameter. This is a function of its own, because the serializer would be compiled into each place that adds one.
    #[inline(never)]
    fn pair(&mut self, name: &str, value: &str) -> &mut Query {
        self.0.append_pair(name, value);
        self
    }

    fn end(mut self) -> String {
        self.0.finish()
    }
}

fn begin(resource: &ApiResource, scope: &Scope) -> Query {
    let mut path = path(resource, scope);
    path.push('?');
    let start = path.len();
    let mut query = Query(Serializer::for_suffix(path, start));
    for (name, selector) in [("labelSelector", &scope.label_selector), ("fieldSelector", &scope.field_selector)] {
        if !selector.is_empty() {
            query.pair(name, selector);
        }
    }
    query
}

#[cfg(test)]
mod tests {
    use super::*;

    const PODS: ApiResource =
        ApiResource { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true, cluster: "" };
    const NODES: ApiResource = ApiResource { plural: "nodes", kind: "Node", namespaced: false, ..PODS };
    const DEPLOYMENTS: ApiResource = ApiResource { group: "apps", plural: "deployments", kind: "Deployment", ..PODS };

    #[test]
    fn paths_follow_group_and_namespace() {
        let shop = Scope { namespace: "shop".into(), ..Scope::default() };
        assert_eq!(path(&PODS, &Scope::default()), "api/v1/pods");
        assert_eq!(path(&DEPLOYMENTS, &shop), "apis/apps/v1/namespaces/shop/deployments");
        assert_eq!(path(&NODES, &shop), "api/v1/nodes");
        let hostile = Scope { namespace: "../../x".into(), ..Scope::default() };
        assert_eq!(path(&PODS, &hostile), "api/v1/namespaces/..%2F..%2Fx/pods");
    }

    #[test]
    fn a_list_names_its_version_only_on_the_first_page() {
        let mut list =
            ListRequest { resource_version: ResourceVersion::new("0"), limit: Some(500), continue_token: None };
        assert_eq!(list.url(&PODS, &Scope::default()), "api/v1/pods?pretty=false&limit=500&resourceVersion=0");
        assert_eq!(ListRequest::count().url(&PODS, &Scope::default()), "api/v1/pods?pretty=false&limit=1");
        list.continue_token = Some("a+b".into());
        assert_eq!(list.url(&PODS, &Scope::default()), "api/v1/pods?pretty=false&limit=500&continue=a%2Bb");
    }

    #[test]
    fn an_exact_list_names_its_version_only_on_the_first_page() {
        let scope = Scope { namespace: "shop".into(), label_selector: "app=web".into(), ..Scope::default() };
        let mut list =
            ExactListRequest { resource_version: ResourceVersion::new("7"), limit: 500, continue_token: None };
        let start = "api/v1/namespaces/shop/pods?labelSelector=app%3Dweb&pretty=false&limit=500";
        assert_eq!(list.url(&PODS, &scope), format!("{start}&resourceVersion=7&resourceVersionMatch=Exact"));
        list.continue_token = Some("a+b".into());
        assert_eq!(list.url(&PODS, &scope), format!("{start}&continue=a%2Bb"));
    }

    #[test]
    fn a_watch_asks_for_bookmarks_and_escapes_its_selectors() {
        let scope = Scope { label_selector: "app=web,tier in (a,b)".into(), ..Scope::default() };
        let mut watch =
            WatchRequest { resource_version: ResourceVersion::new("7"), initial_events: false, timeout_seconds: 300 };
        assert_eq!(
            watch.url(&PODS, &scope),
            "api/v1/pods?labelSelector=app%3Dweb%2Ctier+in+%28a%2Cb%29&watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=300"
        );
        watch.initial_events = true;
        assert!(watch.url(&PODS, &scope).contains("&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"));
        assert!(watch.probe().url(&PODS, &scope).ends_with("&timeoutSeconds=1"));
    }

    #[test]
    fn presence_is_a_streaming_list_of_nothing() {
        assert_eq!(
            presence(&DEPLOYMENTS, "shop"),
            "apis/apps/v1/namespaces/shop/deployments?fieldSelector=metadata.name%3Dnone&watch=true&\
             allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=1"
        );
    }
}
