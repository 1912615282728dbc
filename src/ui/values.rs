//! Values that components read. Leptos compiles its signals and memos once for each type of value, about a kilobyte each
//! time; these are compiled once, and each type adds only how its values are read.

use std::any::Any;
use std::marker::PhantomData;
use std::sync::Arc;

use leptos::prelude::{Get, GetUntracked, RwSignal, Set, Track};

/// A value of any type, which can be compared with another one.
trait Value: Any + Send + Sync {
    fn equals(&self, other: &dyn Value) -> bool;
}

impl<T: PartialEq + Send + Sync + 'static> Value for T {
    fn equals(&self, other: &dyn Value) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref::<T>() == Some(self)
    }
}

#[derive(Clone)]
struct Computed(Arc<dyn Value>);

impl PartialEq for Computed {
    fn eq(&self, other: &Computed) -> bool {
        self.0.equals(&*other.0)
    }
}

type Stored = Arc<dyn Any + Send + Sync>;

/// A value of the page's view.
pub struct Held<T> {
    signal: RwSignal<Stored>,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Held<T> {
    fn clone(&self) -> Held<T> {
        *self
    }
}

impl<T> Copy for Held<T> {}

impl<T: Send + Sync + 'static> Held<T> {
    pub fn new(value: T) -> Held<T> {
        Held { signal: signal(Arc::new(value)), of: PhantomData }
    }

    pub fn set(self, value: T) {
        set(self.signal, Arc::new(value));
    }

    /// Reads the value. Whoever reads it is notified of the next one.
    pub fn with<R>(self, read: impl FnOnce(&T) -> R) -> R {
        read(known(&*stored(self.signal)))
    }

    /// Reads the value, and is not notified of the next one.
    pub fn with_untracked<R>(self, read: impl FnOnce(&T) -> R) -> R {
        read(known(&*stored_untracked(self.signal)))
    }

    /// Is notified of the next value.
    pub fn track(self) {
        self.signal.track();
    }
}

impl<T: Clone + Send + Sync + 'static> Held<T> {
    pub fn get(self) -> T {
        self.with(T::clone)
    }

    pub fn get_untracked(self) -> T {
        self.with_untracked(T::clone)
    }
}

/// A value that is computed from others when they change. Whoever reads it is notified only of one that differs.
pub struct Memo<T> {
    memo: leptos::prelude::Memo<Computed>,
    of: PhantomData<fn() -> T>,
}

impl<T> Clone for Memo<T> {
    fn clone(&self) -> Memo<T> {
        *self
    }
}

impl<T> Copy for Memo<T> {}

impl<T: PartialEq + Send + Sync + 'static> Memo<T> {
    /// Computes it of the value before, if there was one.
    pub fn new(compute: impl Fn(Option<&T>) -> T + Send + Sync + 'static) -> Memo<T> {
        let compute = move |last: Option<&Computed>| Computed(Arc::new(compute(last.map(|last| known(&*last.0)))));
        Memo { memo: memo(Arc::new(compute)), of: PhantomData }
    }

    /// Reads the value. Whoever reads it is notified of the next one.
    pub fn with<R>(self, read: impl FnOnce(&T) -> R) -> R {
        read(known(&*computed(self.memo).0))
    }

    /// Reads the value, and is not notified of the next one.
    pub fn with_untracked<R>(self, read: impl FnOnce(&T) -> R) -> R {
        read(known(&*computed_untracked(self.memo).0))
    }

    /// Is notified of the next value.
    pub fn track(self) {
        self.memo.track();
    }
}

impl<T: Clone + PartialEq + Send + Sync + 'static> Memo<T> {
    pub fn get(self) -> T {
        self.with(T::clone)
    }

    pub fn get_untracked(self) -> T {
        self.with_untracked(T::clone)
    }
}

// What is not generic is compiled once.

fn signal(value: Stored) -> RwSignal<Stored> {
    RwSignal::new(value)
}

fn set(signal: RwSignal<Stored>, value: Stored) {
    signal.set(value);
}

fn stored(signal: RwSignal<Stored>) -> Stored {
    signal.get()
}

fn stored_untracked(signal: RwSignal<Stored>) -> Stored {
    signal.get_untracked()
}

type Compute = Arc<dyn Fn(Option<&Computed>) -> Computed + Send + Sync>;

fn memo(compute: Compute) -> leptos::prelude::Memo<Computed> {
    leptos::prelude::Memo::new(move |last| compute(last))
}

fn computed(memo: leptos::prelude::Memo<Computed>) -> Computed {
    memo.get()
}

fn computed_untracked(memo: leptos::prelude::Memo<Computed>) -> Computed {
    memo.get_untracked()
}

/// A value of the type with which it was made.
fn known<T: 'static>(value: &dyn Any) -> &T {
    value.downcast_ref().expect("a value has the type with which it was made")
}
