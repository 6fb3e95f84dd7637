/// What programs did to lists and registers, as each of them saw it.
///
/// A value is appended or written by one transaction only, so that who reads it knows whose it is.
package struct TransactionHistory: Codable, Sendable {
    /// A list or a register.
    package typealias Key = Int
    package typealias Item = Int

    /// One step of a transaction.
    package enum Step: Codable, Hashable, Sendable {
        /// The whole list was read.
        case read(Key, [Item])
        /// An item was added behind the list as it was read.
        case append(Key, Item)
        /// The register was read; nil when nobody had written it.
        case load(Key, Item?)
        /// The register was written, after it was read.
        case store(Key, Item)
    }

    package enum Outcome: String, Codable, Sendable {
        /// The program was told that the save is made.
        case committed
        /// The program was told that nothing is saved.
        case aborted
        /// The program was told neither.
        case unknown
    }

    package struct Transaction: Codable, Sendable {
        /// Who made it. One session makes one transaction after the other.
        package let session: Int
        package let steps: [Step]
        package let outcome: Outcome
        /// When it began and ended, on a clock that all sessions share.
        package let began: UInt64
        package let ended: UInt64

        package init(
            session: Int, steps: [Step], outcome: Outcome, began: UInt64, ended: UInt64
        ) {
            (self.session, self.steps, self.outcome) = (session, steps, outcome)
            (self.began, self.ended) = (began, ended)
        }
    }

    package var transactions: [Transaction]

    package init(_ transactions: [Transaction]) {
        self.transactions = transactions
    }
}

/// What must not happen, each of which rules out some ways in which transactions can be isolated.
///
/// The names and what they mean are those of Adya's *Weak Consistency* (1999), as Elle uses them (Kingsbury and
/// Alvaro, *Elle: Inferring Isolation Anomalies from Experimental Observations*, 2020).
package enum Anomaly: String, CaseIterable, Comparable, Sendable {
    /// A transaction does not see what it has done itself.
    case internalInconsistency = "internal"
    /// What was read was written by a transaction that was aborted (G1a).
    case abortedRead
    /// What was read is not what its transaction left (G1b).
    case intermediateRead
    /// Two reads of one list contradict each other, or a list holds an item twice or one that nobody wrote.
    case incompatibleOrder
    /// Two committed transactions wrote the same version of a register or list, and one of them is gone.
    case lostUpdate
    /// Transactions overwrite each other in a circle (G0).
    case writeCycle = "G0"
    /// Transactions write and read each other in a circle (G1c).
    case informationCycle = "G1c"
    /// A circle in which one transaction has read what another one then overwrote (G-single, read skew).
    case readSkew = "G-single"
    /// A circle with several such reads (G2, write skew).
    case writeSkew = "G2"

    package static func < (one: Anomaly, other: Anomaly) -> Bool {
        one.rawValue < other.rawValue
    }
}

/// An anomaly in a history, and the transactions that show it.
package struct AnomalyFinding: Hashable, CustomStringConvertible, Sendable {
    package let anomaly: Anomaly
    /// Whether the order in which one session saves, or one save ends before the other begins, is part of it.
    package let byOrder: Bool
    /// Their positions in the history.
    package let transactions: [Int]

    package var description: String {
        "\(anomaly.rawValue)\(byOrder ? " by order" : ""): \(transactions)"
    }
}
