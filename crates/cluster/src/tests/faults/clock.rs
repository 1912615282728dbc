//! The skewed clock.

use super::*;

/// Whether a timestamp is within a minute of a time in seconds since 1970. It is compared as text, without a parser.
fn within_a_minute(text: &str, seconds: i64) -> bool {
    (seconds - 60..=seconds + 60).any(|second| crate::clock::timestamp(second) == text)
}

#[tokio::test]
async fn timestamps_dates_and_ages_are_shifted_and_come_back() {
    let server = serve(quiet()).await;
    let real = || crate::clock::unskewed().seconds();
    let created = async |name: &str| {
        server.config_map(name, "web").await;
        let (_, object) = server.get(&format!("{CONFIG_MAPS}/{name}")).await;
        object["metadata"]["creationTimestamp"].as_str().unwrap().to_owned()
    };
    assert!(within_a_minute(&created("before").await, real()));
    let id = server.fault("skew=7200").await;
    assert!(within_a_minute(&created("during").await, real() + 7200));
    let table = server.client.get(server.url(&format!("{CONFIG_MAPS}/before")));
    let table = table.header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
    let response = within(table.send()).await.unwrap();
    let date = response.headers()["date"].to_str().unwrap().to_owned();
    let table: Value = serde_json::from_str(&within(response.text()).await.unwrap()).unwrap();
    assert_eq!(table["rows"][0]["cells"][2], "120m");
    let later = crate::clock::timestamp(real() + 7200);
    assert!(date.ends_with(" GMT") && date.contains(&format!(" {}:", &later[11..13])), "{date}, not {later}");
    server.control(&format!("clear?id={id}")).await;
    assert!(within_a_minute(&created("after").await, real()));
}
