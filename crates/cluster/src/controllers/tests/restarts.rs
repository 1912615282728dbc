//! The server restarts at lower revisions under running controllers. This is tested in memory, because an etcd cannot
//! do that.

use super::*;
use crate::controllers::replica_set::ReplicaSets;
use crate::tests::serve_from_memory;

#[tokio::test]
async fn controllers_go_on_where_revisions_have_fallen() {
    let cluster = {
        let options = Options { seed: 1, ..Options::default() };
        Cluster::start_on(serve_from_memory(quiet()).await, options, |manager| manager.add::<ReplicaSets>())
    };
    let path = format!("{REPLICA_SETS}/web");
    cluster.create(REPLICA_SETS, &json!({"metadata": {"name": "web"}, "spec": spec("web", 2)})).await;
    cluster.eventually(&path, "2 replicas", |set| set["status"]["replicas"] == 2).await;
    cluster.server.control("restart?revision=10").await;
    cluster.patch(&path, &json!({"spec": {"replicas": 3}})).await;
    cluster.eventually(&path, "3 replicas", |set| set["status"]["replicas"] == 3).await;
    cluster.stop().await;
}
