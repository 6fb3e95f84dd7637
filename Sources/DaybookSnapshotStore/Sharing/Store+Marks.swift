internal import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

extension Store {
    /// Has the file and the shared store keep the same tags, values and cursors. Nothing happens in a store that is
    /// not shared. A mark that the servers refuse stays in the file, and holds no other one up.
    ///
    /// - Throws: ``StoreError`` with ``StoreError/Code/unreachable``, ``StoreError/Code/inDoubt`` or
    ///   ``StoreError/Code/unprotected``, and with ``StoreError/Code/permission`` when the marks there cannot be read;
    ///   another attempt goes on.
    /// - Complexity: O(*m*), *m* the number of marks, and a question for each kind and each mark that was changed here.
    package func exchangeMarks() throws {
        if let markServer { try exchangeMarks(with: markServer) }
    }

    private var markServer: MarkServer? {
        sharing.map { sharing in
            MarkServer(
                all: { kind in try sharing.ask { try $0.marks(kind) } },
                set: { mark in try sharing.ask { try $0.set(mark) } })
        }
    }

    /// - Returns: The reasons for which the servers have refused some of the marks.
    @discardableResult
    func exchangeMarks(with server: MarkServer) throws -> [MarkName: any Error] {
        var refused: [MarkName: any Error] = [:]
        // Others may set marks at the same time; what is left then waits for the next time.
        for _ in 0..<Self.exchangesMaximum {
            var found: KnownMarks = [:]
            for kind in SharedMark.Kind.allCases {
                for mark in try server.all(kind) { found[MarkName(mark)] = mark }
            }
            let unsent = try keep(found).filter { refused[MarkName($0)] == nil }
            guard !unsent.isEmpty else { break }
            if try send(unsent, to: server, &refused) { break }
        }
        return refused
    }

    /// Sends marks, and notes those that the servers have taken, also when the connection is lost before the last one.
    ///
    /// - Returns: Whether all of them were taken or refused. Of the others somebody else was quicker.
    private func send(
        _ marks: [SharedMark], to server: MarkServer, _ refused: inout [MarkName: any Error]
    ) throws -> Bool {
        var sent: [SharedMark] = []
        var areSettled = true
        for mark in marks {
            do {
                guard let version = try server.set(mark) else {
                    areSettled = false
                    continue
                }
                sent.append(SharedMark(mark.kind, mark.name, mark.body, version: version))
            } catch  where Self.isRefusal(error) {
                refused[MarkName(mark)] = error
            } catch {
                try know(sent)
                throw error
            }
        }
        try know(sent)
        return areSettled
    }

    /// Whether the servers do not take this very mark, such as one whose name they cannot write.
    private static func isRefusal(_ error: any Error) -> Bool {
        switch error {
        case let error as StoreError: error.code == .permission
        case let error as SharedJournalError: error.code == .refused
        default: false
        }
    }

    private static let exchangesMaximum = 8

    /// Keeps what the servers have in the file.
    ///
    /// - Returns: What the servers do not have yet.
    private func keep(_ found: KnownMarks) throws -> [SharedMark] {
        let (seen, known) = try reading { transaction in
            (
                try exchange(found, in: transaction),
                try StoreMetadata.knownMarks(parts.tables.meta, in: transaction)
            )
        }
        guard !seen.toKeep.isEmpty || seen.known != known else { return seen.toSend }
        return try writing { [self] transaction in
            let exchange = try exchange(found, in: transaction)
            let meta = parts.tables.meta
            try StoreMetadata.setMarks(exchange.toKeep, meta, in: transaction)
            try StoreMetadata.setKnownMarks(exchange.known, meta, in: transaction)
            return exchange.toSend
        }
    }

    private func exchange(
        _ found: KnownMarks, in transaction: borrowing some Reading & ~Copyable
    ) throws -> MarkExchange {
        let meta = parts.tables.meta
        guard try StoreMetadata.link(meta, in: transaction) != nil else {
            throw StoreError.unlinkedMeanwhile()
        }
        var deferred: Set<MarkName> = []
        for (name, mark) in found where try !mark.isKept(by: parts.journal, in: transaction) {
            deferred.insert(name)
        }
        return MarkExchange(
            local: try StoreMetadata.marks(meta, in: transaction),
            known: try StoreMetadata.knownMarks(meta, in: transaction), found: found,
            deferred: deferred)
    }

    /// Notes what the servers have taken.
    private func know(_ sent: [SharedMark]) throws {
        guard !sent.isEmpty else { return }
        try writing { [meta = parts.tables.meta] transaction in
            var known = try StoreMetadata.knownMarks(meta, in: transaction)
            for mark in sent { known[MarkName(mark)] = mark.body == nil ? nil : mark }
            try StoreMetadata.setKnownMarks(known, meta, in: transaction)
        }
    }

    /// Changes tags here and in the shared store, or in neither.
    ///
    /// - Throws: What `change` throws, and as ``exchangeMarks()``; with ``StoreError/Code/permission`` when the servers
    ///   refuse it; with ``StoreError/Code/tagName`` when another node has given the name meanwhile. An attempt whose
    ///   outcome is not known may show later.
    func changeTag<R: Sendable>(
        _ name: String, _ change: @escaping @Sendable (borrowing WriteTransaction) throws -> R
    ) throws -> R {
        guard let markServer else { return try writing(change) }
        // A name that is taken elsewhere is taken here, too.
        try pull()
        let place = MarkName(.tag, name)
        let (result, former, wanted) = try writing { [meta = parts.tables.meta] transaction in
            let former = try StoreMetadata.marks(meta, in: transaction)[place]
            let result = try change(transaction)
            return (result, former, try StoreMetadata.marks(meta, in: transaction)[place])
        }
        do {
            if let refusal = try exchangeMarks(with: markServer)[place] { throw refusal }
            let known = try reading { try StoreMetadata.knownMarks(parts.tables.meta, in: $0) }
            guard known[place]?.body == wanted else { throw StoreError.tagSetElsewhere(name) }
            return result
        } catch {
            try takeBack(place, from: wanted, to: former)
            throw error
        }
    }

    /// Has a mark say again what it said, unless it was changed meanwhile.
    private func takeBack(_ place: MarkName, from body: [UInt8]?, to former: [UInt8]?) throws {
        try writing { [meta = parts.tables.meta] transaction in
            guard try StoreMetadata.marks(meta, in: transaction)[place] == body else { return }
            let change: [MarkName: [UInt8]?] = [place: former]
            try StoreMetadata.setMarks(change, meta, in: transaction)
        }
    }

    /// Sends what was changed beside the journal before long, without a wait.
    func sendMarksSoon() {
        ahead?.askForExchange { [weak self] in self?.exchangeMarksQuietly() }
    }

    /// Sends what is left before the file is closed.
    func sendMarksNow() {
        if ahead?.isAsked == true { exchangeMarksQuietly() }
    }

    /// Exchanges marks if the servers answer. What cannot be sent now is sent another time.
    func exchangeMarksQuietly() {
        guard case .connected = condition else { return }
        do {
            try exchangeMarks()
        } catch {
            // What differs is still known, and another exchange finds it.
            return
        }
    }
}

/// Where marks are kept for all nodes.
struct MarkServer {
    let all: (SharedMark.Kind) throws -> [SharedMark]
    let set: (SharedMark) throws -> Int64?
}

extension StoreError {
    fileprivate static func tagSetElsewhere(_ name: String) -> StoreError {
        StoreError(
            .tagName,
            "The tag '\(name)' was set on another machine at the same time, and stays what it is there."
        )
    }
}
