//! Pod templates: what the CONTAINERS and IMAGES columns show (`layoutContainerCells`).

use serde_json::Result;

use kubechurn_client::api::cell::Cell;

use super::printed::Fields;

/// Prints the CONTAINERS of a Pod template, whose containers are the first value.
///
/// # Errors
///
/// When the value is no list of containers.
pub fn names(fields: &Fields<'_, '_>) -> Result<Cell> {
    joined(fields, &["name"])
}

/// Prints the IMAGES of a Pod template, whose containers are the first value.
///
/// # Errors
///
/// When the value is no list of containers.
pub fn images(fields: &Fields<'_, '_>) -> Result<Cell> {
    joined(fields, &["image"])
}

/// One text of each container. An image may be empty, because a controller fills it in later. It is counted all the same.
fn joined(fields: &Fields<'_, '_>, path: &'static [&'static str]) -> Result<Cell> {
    let mut joined = String::new();
    let mut later = false;
    fields.each(0, path, &mut |container| {
        if std::mem::replace(&mut later, true) {
            joined.push(',');
        }
        joined.push_str(&container.words(0)?);
        Ok(())
    })?;
    Ok(Cell::Text(joined.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::printed::tests::print;

    #[test]
    fn containers_are_joined_even_where_an_image_is_empty() {
        let cells = |text| print(names, text).zip(print(images, text));
        let both = |names: &str, images: &str| Some((Cell::Text(names.into()), Cell::Text(images.into())));
        assert_eq!(cells(r#"[{"name":"a"},{"name":"b","image":"i"}]"#), both("a,b", ",i"));
        assert_eq!(cells("null"), both("", ""));
        assert_eq!(cells(""), both("", ""));
        assert_eq!(cells("{}"), None);
    }
}
