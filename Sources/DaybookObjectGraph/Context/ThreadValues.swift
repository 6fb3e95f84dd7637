import Foundation

/// What the current thread remembers while it builds a model or follows a key path.
enum ThreadValues {
    static subscript(key: String) -> Any? {
        get { Thread.current.threadDictionary[key] }
        set { Thread.current.threadDictionary[key] = newValue }
    }
}
