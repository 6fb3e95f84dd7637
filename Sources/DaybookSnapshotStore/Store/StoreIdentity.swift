package import Foundation

/// What tells a store from all others.
///
/// The copies of a store have the same, and so do the files of all nodes that share one journal.
package struct StoreIdentity: Sendable, Hashable {
    /// The identifier.
    package let uuid: UUID
    /// When the store was made, in microseconds since 1970.
    package let createdAt: Int64

    /// The identity of a store.
    package init(uuid: UUID, createdAt: Int64) {
        self.uuid = uuid
        self.createdAt = createdAt
    }
}
