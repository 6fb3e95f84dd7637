internal import Synchronization

/// What stands between the bodies of a write and LMDB's commit, where something else must first hold what
/// they write.
///
/// Bodies hand in what the gate is to see with ``WriteTransaction/submit(_:)``; a write in which nothing is
/// handed in does not pass it. All calls are made on the thread that writes, one at a time.
///
/// ```text
/// bodies ──▶ decide ──▶ commit ──▶ answered
///   ▲           ├─ again ──▶ aborted ──▶ catchUp ─┐
///   └───────────┼─────────────────────────────────┘
///               └─ refuse ──▶ aborted ──▶ answered with the error
/// ```
package protocol CommitGate: AnyObject, Sendable {
    /// Decides about a group of writes, whose LMDB transaction is still open: keep it short.
    ///
    /// After ``CommitDecision/commit`` the bodies never run again, whatever becomes of the transaction.
    ///
    /// - Parameter submitted: What the bodies of the group have handed in, in the order in which they ran.
    /// - Returns: The decision.
    func decide(on submitted: [any Sendable]) -> CommitDecision

    /// Refuses what no group may have, as soon as it is handed in.
    ///
    /// - Parameter item: What the body that has just run has handed in.
    /// - Throws: What that body's caller is answered. What the body has written is taken back, and the others of its group
    ///   run again without it.
    func check(_ item: any Sendable) throws

    /// Writes what must be in the file before bodies run again, or what a group that may not run again has
    /// written in vain, because LMDB could not commit it. No LMDB transaction is open.
    ///
    /// - Parameter write: Runs a body in an LMDB transaction of its own, which does not pass the gate.
    /// - Throws: What ends the waiting writes, if they may run again; the others are answered as written.
    func catchUp(_ write: (_ body: @escaping WriteBody) throws -> Void) throws

    /// Gives back what it holds for a group, all of which is answered.
    func end()
}

/// What a gate lets happen.
package enum CommitDecision: Sendable {
    /// The group is held elsewhere by now, and LMDB commits it.
    case commit
    /// The transaction is given up, the gate catches up, and the bodies run again. A gate that says so must
    /// end at some time.
    case again
    /// Nothing is written by the bodies that have handed something in, and they are answered with the error.
    case refuse(any Error)
}

/// What stands before the commit of a body's LMDB transaction.
package enum GateOfWrite: Sendable, Hashable {
    /// Nothing does.
    case none
    /// A gate, which is asked about what the body hands in.
    case ahead
    /// A gate that writes this itself.
    case passed
}

/// What writes, inside of an LMDB transaction.
package typealias WriteBody = @Sendable (borrowing WriteTransaction) throws -> Void

extension Environment {
    /// What stands before LMDB's commit, for all openings of the file in this process; nil when nothing does.
    package var gate: (any CommitGate)? {
        get { core.gate.withLock(\.self) }
        set { core.gate.withLock { $0 = newValue } }
    }
}

extension WriteTransaction {
    /// What stands before LMDB's commit of what this body writes.
    package var gate: GateOfWrite { state.gate }

    /// Hands something to the gate of the environment, which looks at it when the bodies of the group have run.
    ///
    /// It is withdrawn when the body throws or is run again. What the gate writes itself does not pass it.
    package func submit(_ item: some Sendable) {
        if gate == .ahead { state.submit(item) }
    }
}
