import DaybookObjectModel
import Foundation

/// A value that a program gives a condition to compare with.
///
/// Objects are kept by their identifiers, so that a condition may be evaluated on another queue.
enum ConditionArgument: Sendable {
    case value(Value)
    case object(ManagedObjectID)
    /// Several. A list of values may itself be the coded value of an attribute.
    case list([ConditionArgument], coded: Value?)
    /// A value of a type that cannot be compared.
    case unusable(typeName: String)

    init(_ argument: Any?) {
        switch argument {
        case nil: self = .value(.null)
        case let object as ManagedObject: self = .object(object.lastingID)
        case let id as ManagedObjectID: self = .object(id)
        case let list as [Any]:
            let coded = (argument as? any AttributeValue)?.storedValue
            self = .list(list.map { ConditionArgument($0) }, coded: coded)
        case let set as Set<AnyHashable>:
            let coded = (argument as? any AttributeValue)?.storedValue
            self = .list(set.map { ConditionArgument($0.base) }, coded: coded)
        case let value as any AttributeValue: self = .value(value.storedValue)
        case let optional as any Unwrappable: self = ConditionArgument(optional.content)
        case let list as any Collection:
            self = .list(list.map { ConditionArgument($0 as Any) }, coded: nil)
        case .some(let other): self = .unusable(typeName: "\(type(of: other))")
        }
    }

    /// The argument's value in a predicate; `position` tells which argument it is.
    ///
    /// - Throws: ``QueryError`` when it cannot be compared.
    func predicateArgument(
        at position: Int, for target: QueryTarget
    ) throws(QueryError) -> PredicateArgument {
        switch self {
        case .list(let arguments, let coded):
            var values: [Value] = []
            for argument in arguments {
                values.append(try argument.value(at: position, for: target))
            }
            return .list(values, coded: coded)
        default: return .value(try value(at: position, for: target))
        }
    }

    /// The value of a single argument; nil for a list and for what cannot be compared.
    func constant(for target: QueryTarget) -> Value? {
        switch self {
        case .value(let value): value.normalized
        case .object(let id): target.value(of: id)
        case .list, .unusable: nil
        }
    }

    private func value(at position: Int, for target: QueryTarget) throws(QueryError) -> Value {
        if let constant = constant(for: target) { return constant }
        guard case .unusable(let typeName) = self else {
            throw QueryError("Argument \(position) is a list in a list. Give one list of values.")
        }
        throw QueryError(
            "Argument \(position) is of type '\(typeName)', which no property has. Give a value, an "
                + "object, an identifier or a list of them.")
    }
}
