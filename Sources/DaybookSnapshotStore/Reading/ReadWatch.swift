package import DaybookJournalLog
internal import DaybookLMDB
package import DaybookObjectModel

/// Counts what a store reads for who asks, tells of it as it goes, and ends it when nobody wants it any more.
///
/// Several stores may be read with one watch, one after the other, and one on several threads.
package struct ReadWatch: Sendable {
    let meter: ReadMeter

    /// A watch that has counted nothing.
    ///
    /// - Parameter tell: Is told of rows while they are read, some at a time, on the threads that read; and with 0 of
    ///   anything else that is read.
    package init(tellingOfRows tell: (@Sendable (_ count: Int) -> Void)? = nil) {
        guard let tell else {
            meter = ReadMeter()
            return
        }
        meter = ReadMeter { table, count in
            tell(table == "rows" ? count : 0)
        }
    }

    /// What was read so far.
    package var counts: ReadCounts {
        ReadCounts(
            rows: count("rows"), indexRecords: count("index"),
            connections: count("members", "membersPast", "referrers", "referrersPast"),
            versions: count("versions"), entries: count(Journal.tableNames[0]),
            pages: meter.pageCount)
    }

    private func count(_ tables: String...) -> Int {
        tables.reduce(0) { $0 + meter.recordCount(of: $1) }
    }

    /// Ends all reading with this watch: soon it throws `CancellationError`.
    package func stop() { meter.stop() }
}

/// How much was read.
package struct ReadCounts: Sendable, Hashable {
    /// Rows, each as often as it was read.
    package let rows: Int
    /// Records of indexes.
    package let indexRecords: Int
    /// Connections between objects.
    package let connections: Int
    /// Versions that rows had before.
    package let versions: Int
    /// Entries of the journal.
    package let entries: Int
    /// Pages of the file, each as often as it was looked at.
    package let pages: Int

    package init(
        rows: Int, indexRecords: Int, connections: Int, versions: Int, entries: Int, pages: Int
    ) {
        self.rows = rows
        self.indexRecords = indexRecords
        self.connections = connections
        self.versions = versions
        self.entries = entries
        self.pages = pages
    }

    /// How many more rows and versions were read than objects were found: of objects that do not match, of related
    /// ones, and those that were read again.
    ///
    /// - Parameter found: The number of these.
    /// - Returns: The number; 0 where more were found than rows were read.
    package func passedOver(finding found: Int) -> Int { max(0, rows + versions - found) }

    /// What was read, in words for people.
    ///
    /// - Parameter passed: How many of the rows and versions were passed over.
    /// - Returns: A clause.
    package func text(passingOver passed: Int) -> String {
        func counted(_ count: Int, _ one: String, _ many: String) -> String? {
            count == 0 ? nil : "\(count) \(count == 1 ? one : many)"
        }
        let read = [
            counted(rows, "row", "rows"), counted(indexRecords, "index record", "index records"),
            counted(connections, "connection", "connections"),
            counted(versions, "version", "versions"), counted(entries, "entry", "entries"),
            counted(pages, "page", "pages"),
        ].compactMap(\.self)
        return "read: " + (read.isEmpty ? "nothing" : read.joined(separator: ", "))
            + (passed == 0 ? "" : "; passed over: \(passed)")
    }
}

extension Store {
    /// Runs `body` as ``read(at:_:)`` does, and has a watch count what it reads; nil for none.
    ///
    /// - Parameters:
    ///   - sequence: The entry; nil for the last one.
    ///   - watch: The watch.
    ///   - body: Reads the snapshot.
    /// - Returns: What `body` returns.
    /// - Throws: As ``read(at:_:)``; `CancellationError` when the watch has been stopped.
    package func read<R>(
        at sequence: SequenceNumber?, watchedBy watch: ReadWatch?,
        _ body: (borrowing Snapshot) throws -> R
    ) throws -> R {
        guard let watch else { return try read(at: sequence, body) }
        return try reading { transaction in
            let counted = transaction.counted(by: watch.meter)
            return try body(try snapshot(at: sequence, in: transaction, readBy: counted))
        }
    }
}

extension Snapshot {
    /// About how many objects a query looks at.
    package func expectedCount(of query: Query) throws -> Int {
        let plan = try plan(query)
        return switch try order(of: query, plan) {
        case .single(let walk): walk.window
        case .compound(let walk): walk.window
        case nil: plan.count
        }
    }
}
