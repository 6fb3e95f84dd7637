extension TransactionHistory {
    /// What the sessions can rely on beside the values: that one save comes after the other.
    package enum Order: Sendable {
        /// Nothing.
        case none
        /// Each session sees what it has saved or seen before.
        case sessions
        /// Who begins after another one's save has ended sees it.
        case clock
    }

    /// The anomalies of the history.
    ///
    /// The order of the versions of a list is that of the longest read of it, of which every other one must be a
    /// beginning. The versions of a register follow each other by what their writers have read. What was written by
    /// a transaction with an unknown outcome and read by another one counts as committed. The last read of a history
    /// is to be one of all lists, by somebody who sees all: what was acknowledged and is not in it is lost.
    ///
    /// - Parameter order: What else orders the transactions.
    /// - Returns: The findings; for circles one of each kind in each group of transactions that lead to each other.
    /// - Complexity: O(*n* + *e*), and for read skew O(*o* (*n* + *e*)) within groups that lead to each other, *o* the
    ///   number of reads that were overwritten.
    package func anomalies(by order: Order) -> [AnomalyFinding] {
        var check = IsolationCheck(self)
        check.run(order)
        return check.findings
    }
}

/// Looks for anomalies in one history.
private struct IsolationCheck {
    private typealias Key = TransactionHistory.Key
    private typealias Item = TransactionHistory.Item

    /// A version of a list or register: what was written last.
    private struct Version: Hashable {
        let key: Key
        let item: Item?
    }

    private let transactions: [TransactionHistory.Transaction]
    private var graph: DependencyGraph
    private(set) var findings: [AnomalyFinding] = []
    /// Whose each item is.
    private var writers: [Version: Int] = [:]
    /// The last item of each key that a transaction has written.
    private var lastItems: [Int: [Key: Item]] = [:]
    /// The items that somebody has read.
    private var seen: Set<Version> = []
    /// What comes behind each version.
    private var followers: [Version: (item: Item, writer: Int)] = [:]

    init(_ history: TransactionHistory) {
        transactions = history.transactions
        graph = DependencyGraph(count: transactions.count)
    }

    mutating func run(_ order: TransactionHistory.Order) {
        collect()
        checkInside()
        checkReads()
        orderVersions()
        addDependencies()
        searchCircles(by: [])
        switch order {
        case .none: return
        case .sessions: addSessionOrder()
        case .clock:
            addSessionOrder()
            let spans = transactions.indices.filter(counts).map { index in
                (index, transactions[index].began, transactions[index].ended)
            }
            graph.addClockOrder(spans)
        }
        searchCircles(by: .order)
    }

    private mutating func report(_ anomaly: Anomaly, _ transactions: Int..., byOrder: Bool = false)
    {
        findings.append(
            AnomalyFinding(anomaly: anomaly, byOrder: byOrder, transactions: transactions))
    }

    // MARK: - What was written and read

    private mutating func collect() {
        for (index, transaction) in transactions.enumerated() {
            for step in transaction.steps {
                switch step {
                case .append(let key, let item), .store(let key, let item):
                    writers[Version(key: key, item: item)] = index
                    lastItems[index, default: [:]][key] = item
                case .read(let key, let items):
                    guard transaction.outcome != .aborted else { continue }
                    for item in items where writers[Version(key: key, item: item)] != index {
                        seen.insert(Version(key: key, item: item))
                    }
                case .load(let key, let item):
                    guard transaction.outcome != .aborted else { continue }
                    if writers[Version(key: key, item: item)] != index {
                        seen.insert(Version(key: key, item: item))
                    }
                }
            }
        }
    }

    /// Whether what the transaction wrote is there as far as anybody can know.
    private func counts(_ index: Int) -> Bool {
        switch transactions[index].outcome {
        case .committed: true
        case .aborted: false
        case .unknown:
            (lastItems[index] ?? [:]).contains {
                seen.contains(Version(key: $0.key, item: $0.value))
            }
        }
    }

    /// Each transaction sees its own changes on what it has read.
    private mutating func checkInside() {
        for (index, transaction) in transactions.enumerated() {
            var lists: [Key: [Item]] = [:]
            var registers: [Key: Item?] = [:]
            for step in transaction.steps {
                switch step {
                case .read(let key, let items):
                    if let known = lists[key], known != items {
                        report(.internalInconsistency, index)
                    }
                    lists[key] = items
                case .append(let key, let item): lists[key]?.append(item)
                case .load(let key, let item):
                    if let known = registers[key], known != item {
                        report(.internalInconsistency, index)
                    }
                    registers[key] = .some(item)
                case .store(let key, let item): registers[key] = .some(item)
                }
            }
        }
    }

    /// What others have left may be read, and nothing else.
    private mutating func checkReads() {
        for (index, transaction) in transactions.enumerated() where transaction.outcome != .aborted
        {
            for step in transaction.steps {
                switch step {
                case .read(let key, let items):
                    if Set(items).count < items.count { report(.incompatibleOrder, index) }
                    for item in items { checkRead(key, item, by: index) }
                    // What is behind the last item of a list is not there; what is before it may be.
                    if let item = items.last { checkLast(key, item, by: index) }
                case .load(let key, let item?):
                    checkRead(key, item, by: index)
                    checkLast(key, item, by: index)
                case .load, .append, .store: continue
                }
            }
        }
    }

    private mutating func checkRead(_ key: Key, _ item: Item, by reader: Int) {
        guard let writer = writers[Version(key: key, item: item)] else {
            return report(.incompatibleOrder, reader)
        }
        if transactions[writer].outcome == .aborted { report(.abortedRead, writer, reader) }
    }

    private mutating func checkLast(_ key: Key, _ item: Item, by reader: Int) {
        guard let writer = writers[Version(key: key, item: item)], writer != reader else { return }
        if lastItems[writer]?[key] != item { report(.intermediateRead, writer, reader) }
    }

    // MARK: - The order of versions

    private mutating func orderVersions() {
        var longest: [Key: (items: [Item], reader: Int)] = [:]
        for (index, transaction) in transactions.enumerated() where counts(index) {
            for step in transaction.steps {
                guard case .read(let key, let items) = step else { continue }
                if items.count > longest[key]?.items.count ?? -1 { longest[key] = (items, index) }
            }
        }
        for (key, (items, reader)) in longest {
            var before: Item?
            for item in items {
                if let writer = writers[Version(key: key, item: item)] {
                    followers[Version(key: key, item: before)] = (item, writer)
                }
                before = item
            }
            checkPrefixes(of: items, key, reader)
        }
        orderRegisters()
        checkBranches()
        checkKept(in: longest)
    }

    /// What every read of a list says is the beginning of what the longest one does.
    private mutating func checkPrefixes(of items: [Item], _ key: Key, _ reader: Int) {
        for (index, transaction) in transactions.enumerated() where counts(index) {
            for case .read(key, let others) in transaction.steps where !items.starts(with: others) {
                report(.incompatibleOrder, index, reader)
            }
        }
    }

    /// A register is written by who has read it, so its versions follow each other.
    private mutating func orderRegisters() {
        for (index, transaction) in transactions.enumerated() where counts(index) {
            var before: [Key: Item?] = [:]
            for step in transaction.steps {
                switch step {
                case .load(let key, let item): before[key] = .some(item)
                case .store(let key, let item):
                    guard let old = before[key] else { continue }
                    let version = Version(key: key, item: old)
                    if let (_, other) = followers[version], other != index {
                        report(.lostUpdate, other, index)
                    } else {
                        followers[version] = (item, index)
                    }
                    before[key] = .some(item)
                case .read, .append: continue
                }
            }
        }
    }

    /// What was acknowledged is in the longest read, unless that began before.
    private mutating func checkKept(in longest: [Key: (items: [Item], reader: Int)]) {
        for (index, transaction) in transactions.enumerated()
        where transaction.outcome == .committed {
            for case .append(let key, let item) in transaction.steps {
                guard let (items, reader) = longest[key], !items.contains(item),
                    transactions[reader].began > transaction.ended
                else { continue }
                report(.lostUpdate, index, reader)
            }
        }
    }

    /// Two that appended to the same version of a list have lost one of both.
    private mutating func checkBranches() {
        var appended: [Version: Int] = [:]
        for (index, transaction) in transactions.enumerated()
        where transaction.outcome == .committed {
            var last: [Key: Item?] = [:]
            for step in transaction.steps {
                switch step {
                case .read(let key, let items): last[key] = .some(items.last)
                case .append(let key, let item):
                    guard let before = last[key] else { continue }
                    let version = Version(key: key, item: before)
                    if let other = appended[version], other != index {
                        report(.lostUpdate, other, index)
                    }
                    appended[version] = index
                    last[key] = .some(item)
                case .load, .store: continue
                }
            }
        }
    }

    // MARK: - Circles

    private mutating func addDependencies() {
        for (version, (_, writer)) in followers {
            if let before = writers[version] { graph.add(before, writer, .write) }
        }
        for (index, transaction) in transactions.enumerated() where counts(index) {
            for step in transaction.steps {
                let version: Version
                switch step {
                case .read(let key, let items): version = Version(key: key, item: items.last)
                case .load(let key, let item): version = Version(key: key, item: item)
                case .append, .store: continue
                }
                if let writer = writers[version] { graph.add(writer, index, .read) }
                if let (_, writer) = followers[version] { graph.add(index, writer, .overwrite) }
            }
        }
    }

    private mutating func addSessionOrder() {
        var last: [Int: Int] = [:]
        let inOrder = transactions.indices.filter(counts).sorted {
            transactions[$0].began < transactions[$1].began
        }
        for index in inOrder {
            if let before = last[transactions[index].session] { graph.add(before, index, .order) }
            last[transactions[index].session] = index
        }
    }

    private mutating func searchCircles(by order: DependencyGraph.Reasons) {
        let byOrder = order == .order
        let writing = graph.components(by: order.union(.write))
        for group in writing {
            findings.append(
                AnomalyFinding(anomaly: .writeCycle, byOrder: byOrder, transactions: group))
        }
        let flow = order.union([.write, .read])
        for group in graph.components(by: flow) where !writing.contains(group) {
            findings.append(
                AnomalyFinding(anomaly: .informationCycle, byOrder: byOrder, transactions: group))
        }
        for group in graph.components(by: flow.union(.overwrite)) {
            searchSkew(in: group, flow, byOrder)
        }
    }

    /// A circle with one read that was overwritten, or with several only.
    private mutating func searchSkew(
        in group: [Int], _ flow: DependencyGraph.Reasons, _ byOrder: Bool
    ) {
        let members = Set(group)
        var hasOverwritten = false
        for reader in group {
            for (writer, why) in graph.edges[reader]
            where members.contains(writer) && why.contains(.overwrite) {
                hasOverwritten = true
                if let way = graph.way(from: writer, to: reader, by: flow, within: members) {
                    findings.append(
                        AnomalyFinding(anomaly: .readSkew, byOrder: byOrder, transactions: way))
                    return
                }
            }
        }
        if hasOverwritten {
            findings.append(
                AnomalyFinding(anomaly: .writeSkew, byOrder: byOrder, transactions: group))
        }
    }
}
