internal import DaybookObjectModel
internal import Synchronization

/// A filter compiled for the rows of one entity: a list of tests of single fields, each of which says
/// where to go on when it holds and where when it does not.
///
/// It is made once for a fetch and run on each row in place. No object is made, and no value unless bytes
/// cannot decide. What looks beyond the row (members, aggregates) is left to the filter itself and comes
/// after the tests that read only the row.
struct RowProgram: Sendable {
    /// It holds only numbers, so that no references are counted for a row.
    private struct Step: BitwiseCopyable, Sendable {
        var kind: Kind
        /// The slot to look at.
        var slot: Int
        /// The next step if the test holds.
        var ifTrue: Int
        /// The next step if it does not.
        var ifFalse: Int
    }

    private enum Kind: BitwiseCopyable, Sendable {
        /// A test of one field.
        case field(FieldTests.Test)
        /// A test of the object that a stored to-one relationship leads to, by its place in the list.
        case reference(Int)
        /// A filter of values of the row that are worked out first, by its place in the list.
        case computation(Int)
        /// A question about the past of the object, by its place in the list.
        case past(Int)
        /// A filter that looks up what it needs, by its place in the list.
        case filter(Int)
    }

    private static let accept = -1
    private static let refuse = -2

    private var steps: [Step] = []
    private var first = accept
    private var tests = FieldTests()
    private var references: [ReferenceTest] = []
    private var computations: [RowFilter] = []
    private var pasts: [PastTest] = []
    private var filters: [Filter] = []
    /// What the filters ask about the past of other objects; nil when they do not.
    private let questions: PastQuestions?
    private let entity: SchemaEntity
    private let layout: EntityLayout?

    /// Compiles a filter.
    ///
    /// - Parameters:
    ///   - filter: The filter of a query for the entity or one that it inherits from.
    ///   - entity: The entity of the rows.
    ///   - snapshot: The state with the rows, which knows the moments that the filter names.
    /// - Throws: ``QueryError`` when a pattern of the filter cannot be tried; ``StoreError`` with
    ///   ``StoreError/Code/noSuchEntry`` or ``StoreError/Code/noSuchTag`` for a moment that is none.
    init(
        _ filter: Filter, for entity: SchemaEntity, in snapshot: borrowing Snapshot
    ) throws {
        self.entity = entity
        layout = snapshot.projection.foldedEntity(entity.number)?.layout
        questions = filter.asksForPast ? PastQuestions() : nil
        first = try compile(filter, Self.accept, Self.refuse, snapshot)
    }

    /// Whether the row alone decides, so that the program may be run on any state of an object.
    var readsOnlyRow: Bool { references.isEmpty && pasts.isEmpty && filters.isEmpty }

    /// Whether an object meets the condition.
    ///
    /// - Parameters:
    ///   - object: The object.
    ///   - row: The layout of its row.
    ///   - bytes: Its row.
    ///   - snapshot: Where related objects are looked up.
    /// - Returns: What the filter says.
    /// - Throws: ``StoreError`` when something cannot be read; ``QueryError`` when a pattern takes too
    ///   long.
    func accepts(
        _ object: ObjectID, _ row: RowLayout, _ bytes: RawSpan, in snapshot: borrowing Snapshot
    ) throws -> Bool {
        var next = first
        let steps = steps.span
        while next >= 0 {
            let step = steps[next]
            let holds: Bool
            switch step.kind {
            case .field(let test): holds = try self.holds(test, step.slot, row, bytes)
            case .reference(let index):
                let value = try value(step.slot, row, bytes)
                holds = try references[index].holds(value, in: snapshot)
            case .computation(let index):
                let filter = computations[index]
                let values = try filter.slots.map { try value($0, row, bytes) }
                holds = try filter.accepts(object, values)
            case .past(let index): holds = try pasts[index].holds(of: object, in: snapshot)
            case .filter(let index):
                if let questions {
                    let asked = snapshot.remembering(questions)
                    holds = try filters[index].matches(object, in: asked)
                } else {
                    holds = try filters[index].matches(object, in: snapshot)
                }
            }
            next = holds ? step.ifTrue : step.ifFalse
        }
        return next == Self.accept
    }

    @inline(__always)
    private func holds(
        _ test: FieldTests.Test, _ slot: Int, _ row: RowLayout, _ bytes: RawSpan
    ) throws -> Bool {
        guard slot < row.count else { return try tests.holds(test, try value(slot, row, bytes)) }
        let field = try row.field(slot, in: bytes)
        return field.isEmpty ? test.acceptsNull : try tests.holds(test, bytes, field)
    }

    /// The value in a slot, which may be newer than the row.
    private func value(
        _ slot: Int, _ row: RowLayout, _ bytes: RawSpan
    ) throws(DecodingFailure) -> Value {
        guard let layout else { return try row.value(slot, in: bytes) }
        return try layout.value(slot, row, bytes)
    }

    // MARK: - Compiling

    /// Appends the steps for a filter.
    ///
    /// - Parameters:
    ///   - filter: The filter.
    ///   - ifTrue: The step to go on with when it holds.
    ///   - ifFalse: The step to go on with when it does not.
    ///   - snapshot: The state with the rows.
    /// - Returns: The step to begin with.
    /// - Throws: As the initializer.
    private mutating func compile(
        _ filter: Filter, _ ifTrue: Int, _ ifFalse: Int, _ snapshot: borrowing Snapshot
    ) throws -> Int {
        switch filter {
        case .constant(let holds): return holds ? ifTrue : ifFalse
        case .not(let filter): return try compile(filter, ifFalse, ifTrue, snapshot)
        case .and(let filters):
            var next = ifTrue
            for filter in cheapestFirst(filters).reversed() {
                next = try compile(filter, next, ifFalse, snapshot)
            }
            return next
        case .or(let filters):
            var next = ifFalse
            for filter in cheapestFirst(filters).reversed() {
                next = try compile(filter, ifTrue, next, snapshot)
            }
            return next
        case .comparison(let comparison) where comparison.operator == .notEqual:
            return try compile(.comparison(comparison.asEquality), ifFalse, ifTrue, snapshot)
        case .comparison, .between, .membership:
            return try compile(condition: filter.withConstantOnTheRight, ifTrue, ifFalse)
        case .past(let path, let question) where path == FilterPath():
            let test = try PastTest(question, of: entity, in: snapshot)
            return append(.past(pasts.indexAfterAppending(test)), ifTrue, ifFalse)
        case .quantified, .past:
            return append(.filter(filters.indexAfterAppending(filter)), ifTrue, ifFalse)
        }
    }

    private mutating func compile(
        condition filter: Filter, _ ifTrue: Int, _ ifFalse: Int
    ) throws -> Int {
        if let path = filter.leadingPath, path.scope == 0, let property = path.steps.first,
            let slot = entity.slot(of: property.number), filter.hasConstants
        {
            if path.steps.count == 1, let test = try tests.append(filter) {
                return append(.field(test), slot: slot, ifTrue, ifFalse)
            }
            if property.end != nil {
                let test = try ReferenceTest(filter.fromSecondStep)
                let index = references.indexAfterAppending(test)
                return append(.reference(index), slot: slot, ifTrue, ifFalse)
            }
        }
        if let computation = RowFilter(filter, of: entity) {
            let index = computations.indexAfterAppending(computation)
            return append(.computation(index), ifTrue, ifFalse)
        }
        return append(.filter(filters.indexAfterAppending(filter)), ifTrue, ifFalse)
    }

    private mutating func append(
        _ kind: Kind, slot: Int = 0, _ ifTrue: Int, _ ifFalse: Int
    ) -> Int {
        steps.append(Step(kind: kind, slot: slot, ifTrue: ifTrue, ifFalse: ifFalse))
        return steps.count - 1
    }

    /// The filters, those first that read only the row.
    private func cheapestFirst(_ filters: [Filter]) -> [Filter] {
        filters.filter { !$0.crossesRelationships } + filters.filter(\.crossesRelationships)
    }
}

extension Array {
    /// Appends an element and returns its index.
    fileprivate mutating func indexAfterAppending(_ element: Element) -> Int {
        append(element)
        return count - 1
    }
}

/// A condition on values that are in the row, with functions of them.
private struct RowFilter: Sendable {
    private let filter: Filter
    private let properties: [PropertyNumber]
    /// Where the values are.
    let slots: [Int]

    /// - Returns: nil when the condition looks beyond the row.
    init?(_ filter: Filter, of entity: SchemaEntity) {
        guard let properties = filter.ownProperties else { return nil }
        let slots = properties.compactMap { entity.slot(of: $0) }
        guard slots.count == properties.count else { return nil }
        (self.filter, self.properties, self.slots) = (filter, properties, slots)
    }

    func accepts(_ object: ObjectID, _ values: [Value]) throws -> Bool {
        try filter.matches(object, in: RowValues(properties: properties, values: values))
    }
}

/// Some values of one object.
private struct RowValues: FilterSource {
    let properties: [PropertyNumber]
    let values: [Value]

    func value(of property: SchemaProperty, in object: ObjectID) -> Value {
        properties.firstIndex(of: property.number).map { values[$0] } ?? .null
    }

    /// The condition looks at no relationship.
    func members(of property: SchemaProperty, in object: ObjectID) -> [ObjectID] { [] }
}

/// A condition on the object that a to-one relationship leads to, evaluated once for each such object,
/// whichever thread asks first.
private final class ReferenceTest: Sendable {
    private let filter: Filter
    private let holdsForNothing: Bool
    private let answers = Mutex<[ObjectID: Bool]>([:])

    init(_ filter: Filter) throws {
        self.filter = filter
        holdsForNothing = try filter.holdsForNothing
    }

    func holds(_ value: Value, in snapshot: borrowing Snapshot) throws -> Bool {
        guard case .object(let object) = value else { return holdsForNothing }
        if let answer = answers.withLock({ $0[object] }) { return answer }
        let answer = try filter.matches(object, in: snapshot)
        answers.withLock { $0[object] = answer }
        return answer
    }
}
