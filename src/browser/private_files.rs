//! The private file system of the page's origin: folders of files that pages of this origin see, and nobody else.

use js_sys::{Array, Function, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::File;

/// Why something could not be done: the name of the browser's exception, and its words.
pub type Failure = (String, String);

fn get(of: &JsValue, name: &str) -> JsValue {
    Reflect::get(of, &name.into()).unwrap_or(JsValue::UNDEFINED)
}

fn failure(error: &JsValue) -> Failure {
    let words = |name| get(error, name).as_string().unwrap_or_default();
    (words("name"), words("message"))
}

/// What a method gives, when that has come. A browser that has not got the method fails as one that does not allow it.
async fn call(of: &JsValue, method: &str, given: &[JsValue]) -> Result<JsValue, Failure> {
    let Ok(function) = get(of, method).dyn_into::<Function>() else {
        let name = if method == "createWritable" { "NotSupportedError" } else { "SecurityError" };
        return Err((name.to_owned(), method.to_owned()));
    };
    let answer = function.apply(of, &given.iter().collect::<Array>()).map_err(|error| failure(&error))?;
    JsFuture::from(Promise::resolve(&answer)).await.map_err(|error| failure(&error))
}

fn of_navigator(name: &str) -> JsValue {
    web_sys::window().map_or(JsValue::UNDEFINED, |window| get(&window.navigator(), name))
}

fn with(option: &str) -> JsValue {
    let options = Object::new();
    let _ = Reflect::set(&options, &option.into(), &JsValue::TRUE);
    options.into()
}

/// A folder.
#[derive(Debug)]
pub struct Folder(JsValue);

impl Folder {
    /// The one in which all others are.
    ///
    /// # Errors
    ///
    /// When the browser has none for the page.
    pub async fn root() -> Result<Folder, Failure> {
        call(&of_navigator("storage"), "getDirectory", &[]).await.map(Folder)
    }

    /// A folder in this one, which is made if that is wanted.
    ///
    /// # Errors
    ///
    /// When it is not there, or cannot be made.
    pub async fn folder(&self, name: &str, makes: bool) -> Result<Folder, Failure> {
        let options = if makes { with("create") } else { JsValue::UNDEFINED };
        call(&self.0, "getDirectoryHandle", &[name.into(), options]).await.map(Folder)
    }

    /// The names of what is in it.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub async fn names(&self) -> Result<Vec<String>, Failure> {
        let (keys, mut names) = (call(&self.0, "keys", &[]).await?, Vec::new());
        loop {
            let next = call(&keys, "next", &[]).await?;
            if get(&next, "done").is_truthy() {
                return Ok(names);
            }
            names.extend(get(&next, "value").as_string());
        }
    }

    /// A file in it.
    ///
    /// # Errors
    ///
    /// When it is not there.
    pub async fn file(&self, name: &str) -> Result<File, Failure> {
        let handle = call(&self.0, "getFileHandle", &[name.into()]).await?;
        call(&handle, "getFile", &[]).await.map(JsCast::unchecked_into)
    }

    /// Makes a file of these bytes. It is empty until it has all of them.
    ///
    /// # Errors
    ///
    /// When there is no room, or the folder is not there any more.
    pub async fn write(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        let handle = call(&self.0, "getFileHandle", &[name.into(), with("create")]).await?;
        let stream = call(&handle, "createWritable", &[]).await?;
        call(&stream, "write", &[Uint8Array::from(bytes).into()]).await?;
        call(&stream, "close", &[]).await.map(drop)
    }

    /// Removes a file, or a folder with all that is in it.
    ///
    /// # Errors
    ///
    /// When it is not there, or is being written.
    pub async fn remove(&self, name: &str) -> Result<(), Failure> {
        call(&self.0, "removeEntry", &[name.into(), with("recursive")]).await.map(drop)
    }
}

/// How many bytes the browser gives all pages of the origin, if it says so.
pub async fn room() -> Option<f64> {
    get(&call(&of_navigator("storage"), "estimate", &[]).await.ok()?, "quota").as_f64()
}

/// Has all tabs of the origin see that something is in use, until what is returned is called or the tab is gone.
pub fn hold(name: &str) -> Option<Function> {
    let mut release = None;
    let held = Promise::new(&mut |resolve, _| release = Some(resolve));
    let locks = of_navigator("locks");
    let request = get(&locks, "request").dyn_into::<Function>().ok()?;
    let callback = Closure::once_into_js(move || JsValue::from(held));
    request.call2(&locks, &name.into(), &callback).ok()?;
    release
}

/// What is in use in all tabs of the origin.
pub async fn in_use() -> Vec<String> {
    let all = call(&of_navigator("locks"), "query", &[]).await;
    let held = get(&all.unwrap_or(JsValue::UNDEFINED), "held").dyn_into::<Array>().unwrap_or_default();
    held.iter().filter_map(|lock| get(&lock, "name").as_string()).collect()
}
