internal import DaybookLMDB
internal import DaybookObjectModel

// Questions that an index answers by itself: its records stand for the matches, and have the values that are asked for.
// No row is read.

/// The records of an index that answer a question.
struct CoveredQuestion {
    let cover: IndexCover
    let entities: Set<EntityNumber>
    /// The places in the index of the properties whose values are asked for.
    let places: [Int]

    /// - Parameters:
    ///   - query: The question, whose order and limits do not count.
    ///   - plan: The plan of its filter.
    ///   - properties: What is asked of each match.
    init?(_ query: Query, _ plan: FilterPlan, of properties: [PropertyNumber]) {
        guard let cover = plan.cover(of: query.filter) else { return nil }
        var places: [Int] = []
        for number in properties {
            let place = cover.index.elements.firstIndex { $0.property.number == number }
            guard let place, cover.index.elements[place].property.isKeyWhole else { return nil }
            places.append(place)
        }
        self.cover = cover
        entities = Set(query.entities)
        self.places = places
    }
}

extension Snapshot {
    /// The records of an index that answer a question in this state; nil where rows have to be read.
    func covered(
        _ query: Query, _ plan: FilterPlan, of properties: [PropertyNumber]
    ) throws -> CoveredQuestion? {
        guard isLatest, let question = CoveredQuestion(query, plan, of: properties),
            try models.hasIndex(of: question.cover.index, in: transaction)
        else { return nil }
        return question
    }

    /// Passes on the matches of a question with the values that are asked for, in the order of the index.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - body: Takes an object and its values, and may stop the walk.
    /// - Returns: False where a record is cut off and does not tell the values; some have been passed on then.
    /// - Throws: ``StoreError`` when the index cannot be read; what `body` throws.
    /// - Complexity: O(*m*), *m* the number of matches.
    func forEachRecord(
        of question: CoveredQuestion, _ body: (ObjectID, [Value]) throws -> WalkStep
    ) throws -> Bool {
        let index = question.cover.index
        let last = question.places.max().map { $0 + 1 } ?? 0
        var isWhole = true
        var step = WalkStep.proceed
        var values = [Value](repeating: .null, count: question.places.count)
        for range in question.cover.ranges where isWhole && step == .proceed {
            let (lower, upper) = StoreKey.bounds(of: range, in: index)
            guard lower.lexicographicallyPrecedes(upper) else { continue }
            try projection.scanIndex(from: lower, to: upper, in: transaction) { key, object in
                guard key.byteCount < StoreKey.longIndexSize else {
                    isWhole = false
                    return .stop
                }
                guard question.entities.contains(object.entity) else { return .proceed }
                var offset = 4
                for place in 0..<last {
                    let isAscending = index.elements[place].isAscending
                    guard question.places.contains(place) else {
                        offset =
                            key.orderedKeyEnd(at: offset, isAscending: isAscending) ?? key.byteCount
                        continue
                    }
                    guard let value = key.orderedValue(at: &offset, isAscending: isAscending) else {
                        isWhole = false
                        return .stop
                    }
                    for (column, own) in question.places.enumerated() where own == place {
                        values[column] = value
                    }
                }
                step = try body(object, values)
                return step
            }
        }
        return isWhole
    }

    /// How many objects of some entities have records within ranges of an index; nil where the records of now do
    /// not tell.
    func count(
        in cover: IndexCover, of entities: [EntityNumber], atMost limit: Int
    ) throws -> Int? {
        guard isLatest, try models.hasIndex(of: cover.index, in: transaction) else { return nil }
        var count = 0
        var isWhole = true
        for range in cover.ranges where isWhole && count < limit {
            let (lower, upper) = StoreKey.bounds(of: range, in: cover.index)
            guard lower.lexicographicallyPrecedes(upper) else { continue }
            try projection.scanIndex(from: lower, to: upper, in: transaction) { value, object in
                guard value.byteCount < StoreKey.longIndexSize else {
                    isWhole = false
                    return .stop
                }
                guard entities.contains(object.entity) else { return .proceed }
                count += 1
                return count < limit ? .proceed : .stop
            }
        }
        return isWhole ? count : nil
    }
}
