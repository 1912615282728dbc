//! The browser, as the page asks it.

use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::server_clock::ServerClock;
use kubechurn_model::navigation::address::Address;
use kubechurn_model::page::environment::{DrawnRow, Environment};
use kubechurn_model::shell::panel::Window;
use kubechurn_model::table::order::RowKey;
use kubechurn_model::view::row_id;

use crate::browser::{clock, document, location, storage};
use crate::ui::focus;

/// The browser that the page runs in.
pub(super) struct Browser {
    /// Whether something else is shown than the page that asks.
    pub(super) is_covered: bool,
}

impl Browser {
    /// The browser for a page that is shown.
    pub(super) const SEEN: Browser = Browser { is_covered: false };
}

impl Environment for Browser {
    fn now(&self) -> f64 {
        clock::now()
    }

    fn take_jump(&self) -> f64 {
        clock::take_jump()
    }

    fn random(&self) -> f64 {
        js_sys::Math::random()
    }

    fn secret_number(&self) -> u64 {
        let mut bytes = [0; 8];
        let crypto = web_sys::window().and_then(|window| window.crypto().ok());
        let drawn = crypto.map(|crypto| crypto.get_random_values_with_u8_array(&mut bytes));
        // Every browser that runs the page has it, in every context, and it fails for requests of 64 KiB and more only.
        drawn.and_then(Result::ok).expect("a browser has random numbers");
        u64::from_le_bytes(bytes)
    }

    fn wall(&self) -> f64 {
        clock::wall()
    }

    fn server_clock(&self, cluster: &'static str) -> ServerClock {
        clock::of_server(cluster)
    }

    fn to_wall(&self) -> f64 {
        clock::to_wall()
    }

    fn ahead(&self, wall: f64) -> f64 {
        -js_sys::Date::new(&wall.into()).get_timezone_offset() * 60_000.0
    }

    fn zone_name(&self) -> String {
        let options = js_sys::Intl::DateTimeFormat::default().resolved_options();
        let name = js_sys::Reflect::get(&options, &"timeZone".into()).ok();
        name.and_then(|name| name.as_string()).unwrap_or_default()
    }

    fn is_hidden(&self) -> bool {
        self.is_covered || clock::is_hidden()
    }

    fn memory(&self) -> usize {
        core::arch::wasm32::memory_size(0) * 65_536
    }

    fn window(&self) -> Window {
        let window = web_sys::window();
        let sides =
            window.and_then(|own| Some((own.inner_width().ok()?.as_f64()?, own.inner_height().ok()?.as_f64()?)));
        sides.map(|(width, height)| Window { width, height }).unwrap_or_default()
    }

    fn stored(&self, name: &str) -> Option<String> {
        storage::kept(name)
    }

    fn stored_in_tab(&self, name: &str) -> Option<String> {
        storage::kept_in_tab(name)
    }

    fn parameter(&self, name: &str) -> Option<String> {
        location::parameter(name)
    }

    fn named(&self, name: &str) -> Option<String> {
        let meta = document()?.query_selector(&format!("meta[name={name}]")).ok()??;
        meta.get_attribute("content").filter(|content| !content.is_empty() && !content.starts_with("{{"))
    }

    fn address(&self, text: &str) -> Option<Address> {
        let url = web_sys::Url::new_with_base(text, &document()?.base_uri().ok()??).ok()?;
        Some(Address {
            scheme: url.protocol().trim_end_matches(':').to_owned(),
            name: url.hostname(),
            host: url.host(),
            path: url.pathname(),
            has_user: !url.username().is_empty() || !url.password().is_empty(),
        })
    }

    fn url(&self) -> String {
        document().and_then(|document| document.url().ok()).unwrap_or_default()
    }

    fn has_menu(&self) -> bool {
        focus::has_menu()
    }

    fn drawn(&self, row: RowKey) -> Option<DrawnRow> {
        let element = document()?.get_element_by_id(&row_id(row))?;
        let says = |name: &str| element.get_attribute(name).unwrap_or_default();
        let cells = element.children();
        let text = |at| cells.item(at).and_then(|cell| cell.text_content()).unwrap_or_default();
        Some(DrawnRow {
            key: says("data-key"),
            uid: Uid::new(&says("data-uid")),
            state: says("data-state"),
            cells: (0..cells.length()).map(text).collect(),
        })
    }
}
