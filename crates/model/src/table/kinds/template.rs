//! Pod templates: what the CONTAINERS and IMAGES columns show.

use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::Deserializer;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::text::Text;

use super::parts::{ListVisitor, Structure, structure};
use super::printed::Fields;

/// The part of a Pod template that the CONTAINERS and IMAGES columns show.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Template {
    #[serde(deserialize_with = "structure")]
    spec: TemplateSpec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TemplateSpec {
    containers: Containers,
}

/// The names and the images of a template's containers, joined while they are read.
#[derive(Debug, Default)]
struct Containers {
    names: String,
    images: String,
}

impl<'de> Deserialize<'de> for Containers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(default)]
        struct Container<'a> {
            #[serde(borrow)]
            name: Text<'a>,
            #[serde(borrow)]
            image: Text<'a>,
        }

        let mut all = Containers::default();
        let mut later = false;
        let join = |Structure::<Container<'de>>(container)| {
            // An image may be empty, because a controller fills it in later. It is counted all the same.
            if later {
                all.names.push(',');
                all.images.push(',');
            }
            later = true;
            all.names.push_str(&container.name);
            all.images.push_str(&container.image);
        };
        deserializer.deserialize_any(ListVisitor(join, PhantomData))?;
        Ok(all)
    }
}

impl Template {
    /// The cells of CONTAINERS and IMAGES (`layoutContainerCells`).
    pub fn into_cells(self) -> [Cell; 2] {
        let Containers { names, images } = self.spec.containers;
        [Cell::Text(names.into()), Cell::Text(images.into())]
    }
}

/// Prints the CONTAINERS of the Pod template in the first value.
///
/// # Errors
///
/// When the value is no Pod template.
pub fn names(fields: &Fields<'_, '_>) -> serde_json::Result<Cell> {
    fields.structure::<Template>(0).map(|template| Cell::Text(template.spec.containers.names.into()))
}

/// Prints the IMAGES of the Pod template in the first value.
///
/// # Errors
///
/// When the value is no Pod template.
pub fn images(fields: &Fields<'_, '_>) -> serde_json::Result<Cell> {
    fields.structure::<Template>(0).map(|template| Cell::Text(template.spec.containers.images.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_are_joined_even_where_an_image_is_empty() {
        let cells = |text| serde_json::from_str::<Template>(text).ok().map(Template::into_cells);
        let both = |names: &str, images: &str| Some([Cell::Text(names.into()), Cell::Text(images.into())]);
        assert_eq!(cells(r#"{"spec":{"containers":[{"name":"a"},{"name":"b","image":"i"}]}}"#), both("a,b", ",i"));
        assert_eq!(cells(r#"{"spec":{"containers":null}}"#), both("", ""));
        assert_eq!(cells(r#"{"spec":null}"#), both("", ""));
        assert_eq!(cells(r#"{"spec":{"containers":{}}}"#), None);
    }
}
