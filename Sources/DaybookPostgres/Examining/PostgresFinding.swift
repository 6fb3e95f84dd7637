// The room of examining: what somebody finds who looks at the servers of a shared store, with the rights of its
// login. It changes nothing there, except that it proves, as every connection does, that a write is confirmed.

/// Something that was looked at on the servers of a shared store.
package struct PostgresFinding: Sendable, Hashable {
    /// What was looked at.
    package enum Subject: String, Sendable, Hashable, CaseIterable {
        case servers, standbys, encryption, clock, schema, rights
    }

    /// What that means for the store.
    package enum Weight: Sendable, Hashable {
        /// It is as it should be.
        case sound
        /// It may be meant so.
        case remark
        /// Entries may be lost, changed or refused.
        case fault
    }

    /// What was looked at.
    package let subject: Subject
    /// What it means.
    package let weight: Weight
    /// What was found, as a sentence, and the remedy where there is one.
    package let text: String

    init(_ subject: Subject, _ weight: Weight, _ text: String) {
        self.subject = subject
        self.weight = weight
        self.text = text
    }
}
