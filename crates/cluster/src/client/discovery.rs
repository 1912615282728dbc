//! Asks the server which resources it has (client-go's `discovery.ServerPreferredResources` and `restmapper`).

use axum::http::Method;
use kubechurn_client::api::discovery::{ACCEPT, Answer, PATHS, read};

use super::api_error::ApiError;
use super::rest::Client;

pub use kubechurn_client::api::discovery::Discovered;

/// Every resource in every version, subresources left out, in the order of discovery.
///
/// # Errors
/// As [`Client::request`].
pub async fn discover(client: &Client) -> Result<Vec<Discovered>, ApiError> {
    let client = client.with_accept(ACCEPT);
    let mut all = Vec::new();
    for path in PATHS {
        let document = client.request(Method::GET, &format!("/{path}"), "", String::new()).await?;
        match read(&document.to_string()).map_err(|error| ApiError::unanswered(error.to_string()))? {
            Answer::Aggregated { resources, .. } => all.extend(resources),
            Answer::Versions(_) => {
                return Err(ApiError::unanswered("the server does not aggregate its discovery".to_owned()));
            }
        }
    }
    Ok(all)
}
