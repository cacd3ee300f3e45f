//! Sorting, for modules that have to stay small: the one of the standard library takes 3 KB for each type.

/// Sorts in place, in a time that no input makes worse than n log n. What is equal changes places.
pub fn sort<T>(items: &mut [T], before: impl Fn(&T, &T) -> bool) {
    // A heap sort: while `start` goes down the heap is made, after that `end` goes down and takes the largest.
    let (mut start, mut end) = (items.len() / 2, items.len());
    while end > 1 {
        if start > 0 {
            start -= 1;
        } else {
            end -= 1;
            items.swap(0, end);
        }
        let mut root = start;
        loop {
            let mut child = 2 * root + 1;
            if child >= end {
                break;
            }
            if child + 1 < end && before(&items[child], &items[child + 1]) {
                child += 1;
            }
            if !before(&items[root], &items[child]) {
                break;
            }
            items.swap(root, child);
            root = child;
        }
    }
}
