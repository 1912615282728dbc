//! Why the table has no row.

use crate::history::coverage::Known;
use crate::navigation::Navigation;
use crate::navigation::route::joined;
use crate::page::context::Context;
use crate::rewind::Rewound;
use crate::view::{self, EmptyTable};

/// Why there is no row, as soon as that is known.
pub fn empty(cx: &Context<'_>) -> Option<String> {
    let watches = &cx.watching.watches;
    let view = cx.watching.view()?;
    if !view.is_empty() {
        return None;
    }
    if let Some(rewound) = &cx.watching.rewound {
        let works = view.progress().is_some() || rewound.unread() > 0;
        return (!works).then(|| empty_then(rewound, &cx.navigation.route.text));
    }
    let table = EmptyTable {
        schema: &cx.navigation.schema,
        route: &cx.navigation.route,
        known: watches.items(&cx.watching.informers),
        works: view.progress().is_some(),
    };
    view::empty(table, cx.health()?)
}

/// Why there is no row of a moment.
fn empty_then(rewound: &Rewound, text: &str) -> String {
    let (table, title) = (rewound.table(), rewound.table().schema().title());
    match () {
        () if table.counts().1 > 0 => format!("No {title} match “{text}” at this moment."),
        () if rewound.known().iter().all(Known::is_nothing) => {
            format!("It is not known which {title} there were at this moment: they were not watched.")
        }
        () if !rewound.is_whole() => format!("It is not known which {title} there were at this moment."),
        () => format!("There were no {title} at this moment."),
    }
}

/// Why there is no table for the kinds in view: the state, and the words.
pub fn absence(navigation: &Navigation) -> (&'static str, String) {
    let (route, catalog) = (&navigation.route, &navigation.catalog);
    let name = &route.resource;
    let kinds = navigation.kinds();
    if route.is_several() && kinds.is_empty() {
        if !catalog.is_settled() {
            let names = route.names().map(|name| format!("“{name}”")).collect::<Vec<_>>();
            return ("connecting", format!("Looking for {} …", names.join(", ")));
        }
        return ("stopped", format!("None of these can be shown. {}.", joined(&route.left_out(catalog))));
    }
    match kinds.first() {
        Some(kind) if navigation.definitions.awaits(kind) => {
            ("connecting", format!("Asking which columns {} has …", kind.title))
        }
        _ if !catalog.is_settled() => ("connecting", format!("Looking for “{name}” …")),
        _ if catalog.gone(name).is_some() => {
            ("stopped", format!("This server has “{name}” no longer. When it comes back, it is shown again."))
        }
        _ if catalog.is_fixed() => ("stopped", format!("There is no “{name}”: {}.", catalog.lacks())),
        _ => ("stopped", format!("This server has no kind “{name}” that can be watched.")),
    }
}
