//! What a controller has written and its informers do not show yet. A sync that reads an older copy would count the
//! same things twice, or start the same work again.

use std::cell::RefCell;
use std::collections::HashMap;

use kubechurn_client::api::object::ObjectKey;
use serde_json::Value;

use super::object;

/// The newest version of each object that one controller has written.
#[derive(Debug, Default)]
pub struct Written {
    by_key: RefCell<HashMap<ObjectKey, (String, u64)>>,
}

impl Written {
    /// Records the answer to a write of the object.
    pub fn note(&self, object: &Value) {
        if let Some(version) = version(object) {
            let life = (object::uid(object).to_owned(), version);
            self.by_key.borrow_mut().insert(object::key(object), life);
        }
    }

    /// Whether the informer's copy of the object is older than the last write. The newer version will arrive and lead
    /// to another sync.
    pub fn is_ahead_of(&self, object: &Value) -> bool {
        let key = object::key(object);
        let mut by_key = self.by_key.borrow_mut();
        let Some((uid, written)) = by_key.get(&key) else { return false };
        if uid == object::uid(object) && version(object).is_some_and(|known| known < *written) {
            return true;
        }
        by_key.remove(&key);
        false
    }

    /// Removes an object that was deleted.
    pub fn forget(&self, key: &ObjectKey) {
        self.by_key.borrow_mut().remove(key);
    }
}

fn version(object: &Value) -> Option<u64> {
    object::text(object, "/metadata/resourceVersion").parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_informer_is_behind_until_it_shows_what_was_written() {
        let written = Written::default();
        let object = |uid: &str, version: &str| json!({"metadata": {"namespace": "shop", "name": "web", "uid": uid, "resourceVersion": version}});
        let check = |uid: &str, version: &str, expected: bool| {
            assert_eq!(written.is_ahead_of(&object(uid, version)), expected, "{uid} {version}");
        };
        check("a", "9", false);
        written.note(&object("a", "10"));
        check("a", "9", true);
        check("a", "10", false);
        check("a", "9", false);
        written.note(&object("a", "10"));
        check("b", "9", false);
    }
}
