import DaybookObjectModel

/// A list of the objects that meet a request, kept as a fetch would find them.
///
/// It holds the identifier and the sort keys of every object that meets the condition, whatever limit and
/// offset show of them, so that nothing has to be fetched when what is shown shifts. A change costs a look at
/// the changed objects and O(log *n*) comparisons for each.
///
/// The whole list is read again only when it is fetched; when the context was reset, has got or lost a store,
/// was set to another query generation, or has saved while it was held to one; when a child has merged everything
/// from its parent, or anybody identifiers alone; and at each change where no filter stands for the condition.
///
/// Confined to the queue of its context.
final class WatchedList: WatchingList {
    /// Whether the list is read again by itself when it no longer knows what it has.
    enum Renewal {
        case byItself
        /// It is of no use until it is fetched.
        case whenFetched
    }

    let context: ManagedObjectContext
    private let renewal: Renewal
    private let prepare: () throws -> WatchedRequest
    private var request: WatchedRequest?
    private var results: OrderedResults
    private var table: SectionTable?
    private(set) var layout: SectionLayout
    /// What could not be followed because something could not be read, so that the list has to be read again.
    private var missed: ListNotices?
    private var isTelling = false
    /// What has come in while the list was telling.
    private var waiting: [ListNotices] = []
    /// Called after the list has changed.
    var onChange: ((ListStep) -> Void)?
    /// Called before the list is told of anything; the list stops following where this is false.
    var isWanted: () -> Bool = { true }

    /// Makes an empty list.
    ///
    /// - Parameters:
    ///   - context: The context.
    ///   - renewal: Whether the list is read again by itself.
    ///   - prepare: Makes the request ready.
    init(
        in context: ManagedObjectContext, _ renewal: Renewal,
        _ prepare: @escaping () throws -> WatchedRequest
    ) {
        self.context = context
        self.renewal = renewal
        self.prepare = prepare
        results = OrderedResults(in: ResultOrder(sortings: [], ranks: [:]))
        layout = .undivided(0)
    }

    /// Counts the list where it is told of changes, until it goes.
    private var interest: Interest?

    private final class Interest {
        private let places: [ListInterest]

        init(in places: [ListInterest]) {
            self.places = places
            for place in places { place.change(by: 1) }
        }

        deinit {
            for place in places { place.change(by: -1) }
        }
    }

    // MARK: - What it has

    /// Whether the list has been fetched and is still that of its context.
    var isFetched: Bool {
        request?.attachments == context.coordinator.attachmentCount
    }

    /// Whether the list follows what changes.
    var isFollowing: Bool { interest != nil }

    /// How many objects are shown.
    var count: Int { layout.count }

    /// Whether objects are divided into sections.
    var hasSections: Bool { request?.hasSections == true }

    /// The entry at an offset of what is shown.
    subscript(offset: Int) -> ResultEntry { results[window.lowerBound + offset] }

    /// The entry of an object; nil when it does not meet the condition.
    subscript(id: GraphID) -> ResultEntry? { results[id] }

    /// Where an object is in what is shown; nil where it is not.
    func offset(of id: GraphID) -> Int? {
        guard let offset = results.offset(of: id), window.contains(offset) else { return nil }
        return offset - window.lowerBound
    }

    /// Calls `body` with the entries of a part of what is shown.
    func forEach(in range: Range<Int>, _ body: (ResultEntry) throws -> Void) rethrows {
        let start = window.lowerBound
        try results.forEach(
            in: start + range.lowerBound..<start + range.upperBound, body)
    }

    /// The offset of the first object shown for which a condition holds that holds from there on.
    func firstOffset(where holds: (ResultEntry) -> Bool) -> Int {
        min(max(0, results.firstOffset(where: holds) - window.lowerBound), count)
    }

    /// The part of the whole list that is shown.
    private var window: Range<Int> {
        let lower = min(request?.offset ?? 0, results.count)
        let length = min(request?.limit ?? .max, results.count - lower)
        return lower..<lower + length
    }

    // MARK: - Fetching

    /// Reads the whole list.
    func fetch() throws {
        context.requireQueue()
        let prepared = try prepare()
        let entries = try prepared.entries(in: context)
        request = prepared
        missed = nil
        results = OrderedResults(entries, in: prepared.order)
        table = prepared.hasSections ? SectionTable(prepared.order.sortings[0]) : nil
        for entry in entries { table?.add(entry.keys[0]) }
        layout = currentLayout
    }

    private var currentLayout: SectionLayout {
        table?.layout(of: window) ?? .undivided(window.count)
    }

    /// Starts or stops following what changes.
    func follow(_ isFollowing: Bool) {
        guard isFollowing != self.isFollowing else { return }
        if isFollowing {
            context.startTelling(self)
            interest = Interest(in: context.interestsOfLists)
        } else {
            context.stopTelling(self)
            interest = nil
        }
    }

    /// Forgets everything, until it is fetched again.
    private func forget() {
        request = nil
        missed = nil
        results = OrderedResults(in: ResultOrder(sortings: [], ranks: [:]))
        table = nil
        layout = .undivided(0)
    }

    // MARK: - Following

    func take(_ notices: ListNotices) {
        waiting.append(notices)
        // What is changed while the list tells of a change is told afterwards.
        guard !isTelling else { return }
        isTelling = true
        defer { isTelling = false }
        while !waiting.isEmpty {
            var next = missed ?? ListNotices()
            next.take(waiting.removeFirst())
            guard isWanted() else {
                waiting = []
                return follow(false)
            }
            let isLost = next.isReset || request != nil && !isFetched
            if renewal == .whenFetched, isLost { forget() }
            guard renewal == .byItself || request != nil else { continue }
            do {
                let step = try step(next)
                missed = nil
                if !step.isEmpty { onChange?(step) }
            } catch {
                missed = next
                context.mergeFailureHandler?(error)
            }
        }
    }

    private func step(_ notices: ListNotices) throws -> ListStep {
        guard let request, isFetched, missed == nil, !request.isInMemory, !notices.isEverything
        else {
            return try renew(notices)
        }
        var looks: [GraphID: Look] = [:]
        for (id, notice) in notices.objects where request.concerns(id) {
            looks[id] = Look(cause: notice.cause, isUpdate: counts(notice, request))
        }
        for (id, origin) in try request.dependents(of: notices, in: context)
        where looks[id] == nil && request.concerns(id) {
            looks[id] = Look(cause: notices.objects[origin]?.cause)
        }
        for id in looks.keys { looks[id]?.entry = try request.entry(of: id, in: context) }
        var step = apply(looks)
        step.gone = notices.gone
        return step
    }

    /// Whether a list shows an object otherwise than before, where it stands where it stood.
    private func counts(_ notice: ListNotices.Notice, _ request: WatchedRequest) -> Bool {
        if request.seesPending { return notice.weight == .update }
        // What is pending is not in the store yet; what a parent has taken in is in no entry.
        return notice.weight == .saved || notice.cause != nil || context.parent != nil
    }

    /// Reads everything again, and finds what has changed.
    private func renew(_ notices: ListNotices) throws -> ListStep {
        let prepared = try prepare()
        let entries = try prepared.entries(in: context)
        var looks: [GraphID: Look] = [:]
        results.forEach(in: 0..<results.count) { looks[$0.id] = Look() }
        for entry in entries { looks[entry.id] = Look(entry: entry) }
        for (id, notice) in notices.objects where looks[id] != nil {
            looks[id]?.cause = notice.cause
            looks[id]?.isUpdate = counts(notice, prepared)
        }
        let isSameOrder =
            prepared.order.ranks == results.order.ranks
            && prepared.order.sortings == results.order.sortings
        // Where the order of the stores is another, and so may be that of all objects, all go before any comes.
        let emptied = isSameOrder ? nil : apply(looks.mapValues { _ in Look() })
        request = prepared
        if emptied != nil {
            results = OrderedResults(in: prepared.order)
            table = nil
        }
        if table == nil, prepared.hasSections { table = SectionTable(prepared.order.sortings[0]) }
        var step = apply(looks)
        if let emptied {
            step.layoutBefore = emptied.layoutBefore
            step.objects.removals = emptied.objects.removals
            step.sections.removals = emptied.sections.removals
        }
        step.gone = notices.gone
        return step
    }

    // MARK: - Changing the list

    /// What has been found out about an object.
    private struct Look {
        /// What it is in the list; nil when it does not belong there.
        var entry: ResultEntry?
        var cause: EntryName?
        var isUpdate = false
    }

    /// Puts objects where they belong.
    private func apply(_ looks: [GraphID: Look]) -> ListStep {
        let oldWindow = window
        var items: [ListComparison.Item] = []
        var unmoved: [GraphID] = []
        for (id, look) in looks {
            let before = results[id]
            if let before, let after = look.entry, before.keys == after.keys {
                if look.isUpdate { unmoved.append(id) }
                continue
            }
            guard before != nil || look.entry != nil else { continue }
            var item = ListComparison.Item(id: id, old: results.offset(of: id))
            if let before = before?.keys.first, let after = look.entry?.keys.first, let table {
                item.staysInSection = table.areSame(before, after)
            }
            items.append(item)
        }
        // All go before any comes: only what has not changed is compared with.
        for item in items {
            if let old = results.remove(item.id) { table?.remove(old.keys[0]) }
        }
        for item in items {
            guard let entry = looks[item.id]?.entry else { continue }
            results.insert(entry)
            table?.add(entry.keys[0])
        }
        for index in items.indices { items[index].new = results.offset(of: items[index].id) }
        var step = ListStep(layoutBefore: layout, layout: currentLayout)
        let comparison = ListComparison(items, from: oldWindow, to: window)
        comparison.add(to: &step) { results[$0].id }
        for id in unmoved {
            guard let offset = results.offset(of: id), window.contains(offset),
                let old = comparison.oldPlace(ofUnchangedAt: offset)
            else { continue }
            step.updates.append(
                ListStep.Update(id: id, old: old, new: offset - window.lowerBound))
        }
        step.updates.sort { $0.old < $1.old }
        if let table { step.sections = table.changes(from: layout, to: step.layout) }
        layout = step.layout
        for (id, look) in looks { if let cause = look.cause { step.causes[id] = cause } }
        return step
    }

    /// What is wrong with the list; empty for a sound one.
    func findings() -> [String] { results.findings() }
}
