internal import CDaybookLMDB
internal import Synchronization

extension EnvironmentCore {
    /// What a gate said to a group whose bodies have run.
    enum GateAnswer {
        /// It was not asked: nothing was handed in, or there is none.
        case none
        /// LMDB commits, and the bodies never run again.
        case accepted
        /// The bodies of these run again after the gate has caught up.
        case behind
        /// Those who handed something in are refused.
        case refused(any Error)
    }

    /// Has the gate look at what the body that has just run has handed in.
    ///
    /// - Throws: What the gate throws.
    func checkSubmissions(of state: WriteState) throws {
        guard !state.submissions.isEmpty, let gate = gate.withLock(\.self) else { return }
        for item in state.newSubmissions { try gate.check(item) }
    }

    /// Asks the gate about what the bodies have handed in.
    func askGate(_ state: WriteState) -> GateAnswer {
        guard !state.submissions.isEmpty, let gate = gate.withLock(\.self) else { return .none }
        switch gate.decide(on: state.submissions.map(\.item)) {
        case .commit: return .accepted
        case .again: return .behind
        case .refuse(let error): return .refused(error)
        }
    }

    /// What stands before the commit of what a request writes.
    func gate(before request: WriteRequest, _ isThere: Bool) -> GateOfWrite {
        isThere ? request.isOfGate ? .passed : .ahead : .none
    }

    /// Tells the gate that all of a group is answered.
    func endGate() {
        gate.withLock(\.self)?.end()
    }

    /// Lets the gate write what is missing. No LMDB transaction is open.
    ///
    /// - Parameter wait: The wait for other processes that write.
    /// - Throws: What the gate throws.
    func catchUp(_ wait: LockWait) throws {
        guard let gate = gate.withLock(\.self) else { return }
        try gate.catchUp { body in
            let request = WriteRequest(body, wait.restarted, isOfGate: true)
            perform([request]) { _ in [] }
            try request.check()
        }
    }

    /// Answers the writes that the gate has accepted and LMDB could not commit.
    ///
    /// They are held elsewhere, so they are answered as written. The file gets them now if it can, and
    /// otherwise before the next write passes the gate.
    ///
    /// - Parameters:
    ///   - accepted: Those that handed something in. The others of their group are run again, as the gate
    ///     knows nothing of them.
    ///   - group: Their group, which they leave.
    ///   - status: What LMDB said.
    func settle(
        _ accepted: [WriteRequest], of group: inout [WriteRequest], after status: Int32
    ) {
        do {
            if status == MDB_MAP_FULL {
                try pool.whileWriting { () throws(LMDBError) in try grow() }
            } else {
                _ = commitFailure(status)
            }
            if let first = accepted.first { try catchUp(first.wait) }
        } catch {
            // The gate catches up before the next write that it lets pass.
        }
        finish(accepted, of: &group, nil)
    }

    /// Answers some requests of a group, and takes them out of it.
    func finish(
        _ requests: [WriteRequest], of group: inout [WriteRequest], _ error: (any Error)?
    ) {
        group.removeAll { request in requests.contains { $0 === request } }
        for request in requests {
            // Its answer does not depend on the others.
            request.finish(error)
            request.wake()
        }
    }
}
