//! The page's memory allocator: the standard library's, called and never copied into its callers.
//!
//! On wasm32 the standard library frees memory through dlmalloc, whose check of a block's size is small enough that the
//! compiler copies it to each of the page's thousands of places that free memory. As a call it is a tenth of the wasm less.
//! What it costs or saves in time is measured by `./dev bench frames`.

use std::alloc::{GlobalAlloc, Layout, System};

/// The standard library's allocator, of which only allocating may be inlined.
#[derive(Debug)]
pub struct Allocator;

// SAFETY: each method passes its arguments on unchanged to `System`, whose contract is the same.
unsafe impl GlobalAlloc for Allocator {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of this method, which is that of the method called.
        unsafe { System.alloc(layout) }
    }

    #[inline(never)]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above; the block comes from `System`, because every block does.
        unsafe { System.dealloc(block, layout) }
    }

    #[inline(never)]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as in `alloc`.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline(never)]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as in `dealloc`; the size is not zero, by the same contract.
        unsafe { System.realloc(block, layout, size) }
    }
}
