//! A page that stands within another page, as in an article: it shows lessons and nothing else. It asks for nothing, keeps nothing,
//! and leads nowhere else but by its link to the whole page.

use crate::inside::Part;
use crate::inside::command::InsideCommand;
use crate::navigation::address::without_parameter;
use crate::page::command::Command;
use crate::page::context::Context;
use crate::page::effect::Effect;
use crate::view::Theme;
use crate::view::inside::EmbedModel;

/// The parameters of the address: that the page is embedded, which part is shown, and in which colours.
const PARAMETERS: [&str; 3] = ["embed", "part", "theme"];

/// Begins an embedded page, if the address says that this is one. Returns whether it is.
pub(super) fn begin(cx: &mut Context<'_>) -> bool {
    let [embed, part, theme] = PARAMETERS.map(|name| cx.env.parameter(name).unwrap_or_default());
    if embed != "1" {
        return false;
    }
    // The program has come, and nothing else is needed: from now on the browser refuses every request.
    cx.effects.push(Effect::Restrict(String::from("connect-src 'none'")));
    let theme = if theme == Theme::Light.name() { Theme::Light } else { Theme::Dark };
    cx.effects.push(Effect::Theme(theme));
    cx.view.header.theme.put(theme);
    cx.view.header.embed.put(Some(EmbedModel { part: Part::of(&part) }));
    true
}

/// Whether an embedded page does this. All others do everything.
pub(super) fn does(command: &Command, cx: &Context<'_>) -> bool {
    let leads_away = |command: &InsideCommand| {
        matches!(command, InsideCommand::Toggle | InsideCommand::Kind(_) | InsideCommand::Renew | InsideCommand::New)
    };
    let is_here = match command {
        Command::Inside(command) => !leads_away(command),
        Command::Arrive(_) => true,
        _ => false,
    };
    is_here || cx.view.header.embed.is_none()
}

/// The address of the whole page at the same place; empty on a whole page.
pub(super) fn whole(cx: &Context<'_>) -> String {
    if cx.view.header.embed.is_none() {
        return String::new();
    }
    let url = PARAMETERS.iter().fold(cx.env.url(), |url, name| without_parameter(&url, name));
    let page = url.split('#').next().unwrap_or_default();
    format!("{page}{}", cx.navigation.route.fragment())
}
