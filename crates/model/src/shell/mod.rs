//! What surrounds the parts of the page: the sidebar's groups, the sizes of panels, the place of a text beside the
//! pointer, and sentences for screen readers.

pub mod beside;
pub mod panel;
pub mod sidebar;
pub mod speech;
