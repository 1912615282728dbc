//! What the user asks of the sizes of panels.

use crate::page::command::PanelCommand;
use crate::page::environment::Environment;
use crate::page::state::Page;

impl Page {
    /// Carries out a command for the size of a panel.
    pub(super) fn command_panel(&mut self, command: PanelCommand, env: &dyn Environment) {
        match command {
            PanelCommand::Resize(panel, wanted) => {
                self.sizes.choose(panel, wanted, env.window());
                self.fit_panels(env);
            }
            PanelCommand::Keep(panel) => {
                let text = self.sizes.text(panel);
                self.store(panel.key(), text.as_deref());
            }
            PanelCommand::Fit => self.fit_panels(env),
        }
    }

    /// Fits the panels into the window. The sizes that the user chose are kept, because a larger window may have room for
    /// them.
    pub(super) fn fit_panels(&mut self, env: &dyn Environment) {
        self.out.view.header.sizes.put(self.sizes.fitted(env.window()));
    }
}
