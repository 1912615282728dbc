//! A CustomResourceDefinition and its objects, from the creation to the deletion.

use std::time::Duration;

use kubechurn_harness::wait::{holds, wait_until};

use crate::session::Session;

const DEFINITION: &str = include_str!("manifests/widgets.yaml");
const WIDGET: &str = include_str!("manifests/widget.yaml");

#[tokio::test]
async fn a_definition_and_its_objects() {
    let kubectl = Session::start("custom").await;
    kubectl
        .check_with(
            "create -f -",
            DEFINITION,
            &["customresourcedefinition.apiextensions.k8s.io/widgets.example.org created"],
        )
        .await;
    for (line, expected) in [
        ("wait --for=condition=Established crd/widgets.example.org --timeout=20s", &["condition met"][..]),
        ("get crd", &["NAME CREATED AT", "widgets.example.org 20"]),
        ("api-resources --api-group=example.org", &["widgets wd example.org/v1 true Widget"]),
    ] {
        kubectl.check(line, expected).await;
    }
    kubectl.check_with("apply -f -", WIDGET, &["widget.example.org/one created"]).await;
    kubectl.check_with("apply -f -", WIDGET, &["widget.example.org/one unchanged"]).await;
    kubectl
        .check_with("apply -f -", &WIDGET.replace("size: 3", "size: 4"), &["widget.example.org/one configured"])
        .await;
    for (line, expected) in [
        ("get widgets -n default", &["NAME SIZE PHASE READY SINCE", "one 4"][..]),
        ("get wd one -n default -o wide", &["NAME SIZE PHASE READY HOSTS SINCE", "one 4 a.example"]),
        ("get widget one -n default -o yaml", &["kind: Widget", "generation: 2"]),
        (
            "patch widget one -n default --subresource=status --type=merge -p '{\"status\":{\"phase\":\"Spinning\",\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}'",
            &["widget.example.org/one patched"],
        ),
        ("wait --for=condition=Ready widget/one -n default --timeout=20s", &["widget.example.org/one condition met"]),
        ("get widgets -A", &["default one 4 Spinning True"]),
        ("get all -n default", &["widget.example.org/one"]),
        ("label widget one -n default a=b", &["labeled"]),
        ("delete widget one -n default --wait", &["widget.example.org \"one\" deleted"]),
    ] {
        kubectl.check(line, expected).await;
    }
    kubectl
        .fails(
            "create -f -",
            &DEFINITION.replace("name: widgets.", "name: gadgets."),
            &["metadata.name: Invalid value"],
        )
        .await;
    kubectl.check_with("apply -f -", WIDGET, &["created"]).await;
    let watch = kubectl.follow("get widgets -n default -w");
    watch.line_after("one ").await;
    kubectl.check("delete crd widgets.example.org --wait", &["deleted"]).await;
    kubectl
        .fails("get --raw /apis/example.org/v1/widgets", "", &["the server could not find the requested resource"])
        .await;
    wait_until("discovery forgets the resource", Duration::from_secs(20), async || {
        let ended = kubectl.run("api-resources --api-group=example.org", "").await;
        holds(!ended.output.contains("Widget"), || ended.output)
    })
    .await;
    // The same definition again defines a new resource, without the old objects.
    kubectl.check_with("create -f -", DEFINITION, &["created"]).await;
    kubectl.check("get widgets -n default", &["No resources found"]).await;
}
