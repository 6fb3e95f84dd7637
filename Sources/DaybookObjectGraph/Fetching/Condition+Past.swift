import DaybookJournalLog
import DaybookObjectModel
import Foundation

// Conditions on the past: what an object ever was, and what entries have changed.

extension Condition {
    /// A question about the past, written with key paths.
    indirect enum PastForm: Sendable {
        case ever(Form)
        case always(Form)
        case was(Form, Moment)
        case change(
            ModelKeyPath, FilterChange.Direction, author: String?, since: Moment?, until: Moment?)

        /// - Throws: ``QueryError`` when it does not fit the model, or when a Foundation predicate in it cannot
        ///   be lowered.
        func filter(
            of entity: GraphEntity, for target: QueryTarget, lowering: (Form) throws -> Filter
        ) throws -> Filter {
            func condition(_ form: Form) throws -> Filter {
                do {
                    return try lowering(form).withinPast()
                } catch let error as NotLowerable {
                    throw QueryError(
                        "A predicate about the past has to be one that the store can evaluate, and no "
                            + "filter stands for \(error.expression).")
                }
            }
            switch self {
            case .ever(let form): return .past(FilterPath(), .ever(try condition(form)))
            case .always(let form): return .past(FilterPath(), .always(try condition(form)))
            case .was(let form, let moment):
                return .past(FilterPath(), .was(try condition(form), at: FilterMoment(moment)))
            case .change(let keyPath, let direction, let author, let since, let until):
                var path = try entity.filterPath(keyPath, in: target.schema)
                guard let property = path.steps.popLast() else { return .constant(false) }
                let change = try FilterChange(
                    property, direction, by: author.map { .named($0) } ?? .anyone,
                    since: since.map(FilterMoment.init), until: until.map(FilterMoment.init))
                return .past(path, .change(change))
            }
        }
    }

    /// Objects that met a condition after any entry that they have seen, or meet it now.
    ///
    /// ```swift
    /// FetchRequest<Employee>(where: .ever(\.salary > 5000))
    /// ```
    ///
    /// The past is what was saved: the states of an object from the entry that inserted it to the newest that the
    /// context reads. Pending changes are no part of it. Within the condition there may be no other question
    /// about the past.
    ///
    /// - Parameter condition: A condition on the object and on what relationships led to at that time.
    /// - Returns: The condition.
    public static func ever(_ condition: Condition) -> Condition {
        Condition(.past(.ever(condition.form)))
    }

    /// Objects that have met a condition after every entry since they were inserted, and meet it now. So does
    /// an object that was never saved.
    ///
    /// - Parameter condition: As of ``ever(_:)``.
    /// - Returns: The condition.
    public static func always(_ condition: Condition) -> Condition {
        Condition(.past(.always(condition.form)))
    }

    /// Objects that were there at a moment, and met a condition then.
    ///
    /// ```swift
    /// FetchRequest<Employee>(where: .was(\.salary > 5000, at: .tag("inventory")))
    /// ```
    ///
    /// - Parameters:
    ///   - condition: As of ``ever(_:)``.
    ///   - moment: When; the state that the context reads where the moment is later than that.
    /// - Returns: The condition.
    public static func was(_ condition: Condition, at moment: Moment) -> Condition {
        Condition(.past(.was(condition.form, moment)))
    }
}

extension KeyPath where Root: ManagedObject {
    /// Objects whose property was changed by an entry: `(\Employee.department).changed(by: "ada")`.
    ///
    /// A change is an entry before and after which the object was there with different values; for a to-many
    /// relationship, with other members or another order of them. Entries that insert or delete the object change
    /// nothing. A path of to-one relationships leads to the object that is asked.
    ///
    /// - Parameters:
    ///   - author: Who saved the entry; nil for anybody.
    ///   - since: The first entry, or a date at which or after which it happened; nil for any.
    ///   - until: The last entry, or a date before which it happened; nil for any.
    /// - Returns: The condition.
    public func changed(
        by author: String? = nil, since: Moment? = nil, until: Moment? = nil
    ) -> Condition<Root> {
        change(.changed, author, since, until)
    }

    /// Objects whose number or date was replaced by a greater one.
    ///
    /// - Parameters:
    ///   - author: As of `changed(by:since:until:)`.
    ///   - since: As there.
    ///   - until: As there.
    /// - Returns: The condition; executing a request with it throws ``QueryError`` for other types.
    public func increased(
        by author: String? = nil, since: Moment? = nil, until: Moment? = nil
    ) -> Condition<Root> {
        change(.increased, author, since, until)
    }

    /// Objects whose number or date was replaced by a lesser one.
    ///
    /// - Parameters:
    ///   - author: As of `changed(by:since:until:)`.
    ///   - since: As there.
    ///   - until: As there.
    /// - Returns: The condition; executing a request with it throws ``QueryError`` for other types.
    public func decreased(
        by author: String? = nil, since: Moment? = nil, until: Moment? = nil
    ) -> Condition<Root> {
        change(.decreased, author, since, until)
    }

    private func change(
        _ direction: FilterChange.Direction, _ author: String?, _ since: Moment?, _ until: Moment?
    ) -> Condition<Root> {
        Condition(
            .past(
                .change(
                    ModelKeyPath(keyPath: self), direction, author: author, since: since,
                    until: until)))
    }
}

extension FilterMoment {
    init(_ moment: Moment) {
        switch moment {
        case .sequence(let number): self = .entry(number.rawValue)
        case .date(let date): self = .init(date)
        case .tag(let name): self = .tag(name)
        case .head: self = .head
        }
    }
}
