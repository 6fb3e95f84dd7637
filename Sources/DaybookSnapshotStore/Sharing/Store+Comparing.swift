package import DaybookJournalLog
internal import DaybookLMDB
internal import DaybookObjectModel

/// What is found when every entry of a file is compared with the shared journal.
package struct SharedComparison: Sendable, Hashable {
    /// An entry that is not what it should be.
    package struct Difference: Sendable, Hashable {
        /// What is wrong.
        package enum Kind: Sendable, Hashable {
            /// What the servers have does not fit its digest, or the entry before: it was changed there.
            case changedOnServers
            /// The servers have it as it was chained, and the file has another one.
            case otherInFile
            /// The file has it, and the servers do not.
            case missingOnServers
            /// Large data that it refers to are not on the servers, or were changed there.
            case dataOnServers
        }

        /// The entry.
        package let sequence: SequenceNumber
        /// What is wrong.
        package let kind: Kind
        /// The name under which its writer was let in; nil for one that the servers do not have.
        package let login: String?
    }

    /// How many entries the servers have.
    package internal(set) var entries: UInt64 = 0
    /// How many of them the file does not have yet.
    package internal(set) var missing: UInt64 = 0
    /// The first differences, at most ``differencesMaximum``.
    package internal(set) var differences: [Difference] = []

    /// How many differences are told.
    package static let differencesMaximum = 16
}

extension Store {
    /// Compares every entry with the shared journal: its bytes, its time and its digest, which is worked out anew. Large
    /// data are read there, too, and the digests of all their records are worked out.
    ///
    /// What others append meanwhile is compared as far as the journal went when its end was read.
    ///
    /// - Parameter progress: Told how many entries have been compared.
    /// - Returns: What differs, and how many entries there are.
    /// - Throws: ``StoreError`` with ``StoreError/Code/unreachable``, also for a store that is not shared; with
    ///   ``StoreError/Code/corrupt`` when an entry of the file cannot be read.
    /// - Complexity: O(*b*), *b* the bytes of the journal and of the large data.
    package func compareWithShared(
        _ progress: (_ done: UInt64) -> Void = { _ in }
    ) throws -> SharedComparison {
        guard let sharing else { throw StoreError.notLinked(path) }
        let own = try head()
        var result = SharedComparison()
        var seen: Set<LargeData>? = try hasLargeData() ? [] : nil
        // Where the servers' own chain has come to, whatever the file has.
        var place = SharedHead.start
        while true {
            let page = try sharing.ask { [place] in
                try $0.page(after: place, bytes: SharedPage.bytesUsual)
            }
            for found in page.entries {
                try compare(found, after: place, upTo: own, &seen, &result)
                place = SharedHead(found.sequence, found.digest)
            }
            progress(place.sequence.rawValue)
            if page.isLast || page.entries.isEmpty { break }
        }
        result.entries = place.sequence.rawValue
        result.missing = max(place.sequence.rawValue, own.rawValue) - own.rawValue
        if own > place.sequence {
            result.add(place.sequence.next, .missingOnServers, nil)
        }
        return result
    }

    private func compare(
        _ found: SharedEntry, after place: SharedHead, upTo own: SequenceNumber,
        _ seen: inout Set<LargeData>?, _ result: inout SharedComparison
    ) throws {
        let entry = JournalEntry(
            sequence: found.sequence, recordedAt: found.recordedAt, previous: place.digest,
            payload: found.payload)
        guard found.sequence == place.sequence.next, entry.digest == found.digest else {
            return result.add(found.sequence, .changedOnServers, found.login)
        }
        guard found.sequence <= own else { return }
        let mine = try reading { try parts.journal.entry(at: found.sequence, in: $0) }
        guard let mine, mine == entry else {
            return result.add(found.sequence, .otherInFile, found.login)
        }
        guard let sharing, seen != nil else { return }
        try mine.forEachLargeData { data, _, _ in
            guard seen?.insert(data.detached).inserted == true else { return }
            do {
                try sharing.check(data)
            } catch is ChunkDamage {
                result.add(found.sequence, .dataOnServers, found.login)
            } catch let error as SharedJournalError {
                throw StoreError(error)
            }
        }
    }
}

extension SharedComparison {
    fileprivate mutating func add(
        _ sequence: SequenceNumber, _ kind: Difference.Kind, _ login: String?
    ) {
        guard differences.count < Self.differencesMaximum else { return }
        differences.append(Difference(sequence: sequence, kind: kind, login: login))
    }
}
