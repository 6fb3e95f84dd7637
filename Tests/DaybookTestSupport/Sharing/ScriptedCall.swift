package import DaybookJournalLog
package import DaybookObjectModel
package import DaybookSnapshotStore

/// One call that a node has made, and what it was answered.
package struct ScriptedCall: Sendable, Hashable {
    /// What was asked for.
    package enum Request: Sendable, Hashable {
        case append(SharedGroup)
        case page(after: SharedHead, bytes: Int)
        case enter(after: SharedHead, bytes: Int)
        case leave
        case takeNumbers(UInt64)
        case marks(SharedMark.Kind)
        case set(SharedMark)
        case lacking([ChunkKey])
        case keep([ChunkKey])
        case records([ChunkKey])
        case announce(SequenceNumber)
    }

    /// What was answered.
    package enum Outcome: Sendable, Hashable {
        /// To an append.
        case answered(SharedAnswer)
        /// To a page: how many entries came.
        case entries(Int)
        /// To a request for numbers.
        case numbers(Range<UInt64>)
        /// To a list: how many marks came.
        case marks(Int)
        /// To questions about records of large data: how many came, or are lacking.
        case records(Int)
        /// To a mark that was set, or not.
        case version(Int64?)
        /// To what has no answer.
        case done
        /// An error was thrown.
        case failed(SharedJournalError.Code)
    }

    /// What was asked for.
    package let request: Request
    /// What was answered.
    package let outcome: Outcome

    /// A call.
    package init(_ request: Request, _ outcome: Outcome) {
        self.request = request
        self.outcome = outcome
    }
}
