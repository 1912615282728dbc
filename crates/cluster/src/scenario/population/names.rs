//! The names in the demo cluster: namespaces, their workloads, the zones of nodes. This file contains only data.

/// Each namespace, its share of 100 Pods, and the names of its workloads.
pub const NAMESPACES: [(&str, usize, &[&str]); 9] = [
    ("shop", 24, &["cart", "checkout", "catalog", "web", "orders", "reviews", "wishlist", "pricing", "gift-cards"]),
    ("payments", 16, &["gateway", "ledger", "fraud-check", "invoices", "payouts", "refunds"]),
    ("search", 14, &["query", "indexer", "suggest", "ranker", "crawler"]),
    ("platform", 14, &["auth", "notifications", "feature-flags", "audit", "sessions", "mailer", "webhooks"]),
    ("media", 10, &["thumbnails", "transcoder", "uploads", "cdn-origin"]),
    ("data", 8, &["ingest", "stream-join", "reports", "exporter"]),
    ("monitoring", 6, &["prometheus", "grafana", "alertmanager", "loki"]),
    ("ingress", 3, &["edge-proxy", "cert-manager"]),
    ("kube-system", 5, &["coredns", "metrics-server", "cluster-autoscaler"]),
];

/// Namespaces without workloads.
pub const EMPTY_NAMESPACES: [&str; 3] = ["default", "kube-public", "kube-node-lease"];

/// The suffixes of workloads when a namespace has more workloads than names.
pub const VARIANTS: [&str; 8] = ["eu", "us", "ap", "canary", "batch", "internal", "beta", "legacy"];

/// The Jobs that are run repeatedly, with their namespaces.
pub const JOBS: [(&str, &str); 8] = [
    ("shop", "price-import"),
    ("payments", "settlement"),
    ("data", "daily-report"),
    ("search", "reindex"),
    ("platform", "token-cleanup"),
    ("media", "cache-warmup"),
    ("data", "backup"),
    ("shop", "sitemap"),
];

/// The names of sidecar containers.
pub const SIDECARS: [&str; 3] = ["envoy", "log-shipper", "vault-agent"];
