public import Foundation

/// One reason why an object is not valid, so that it cannot be saved.
///
/// A save collects every failure in one ``StoreError``. A validation hook may throw one to name the
/// property at fault:
///
/// ```swift
/// override func validateForUpdate() throws {
///     guard end >= start else {
///         throw ValidationFailure(.invalid, property: "end", "The end comes before the start.")
///     }
/// }
/// ```
public struct ValidationFailure: Error, Sendable {
    /// The kind of rule that is broken. The raw values are the numbers that Core Data gives these
    /// errors.
    public enum Reason: Int, Sendable, Hashable, CaseIterable {
        /// The value has another type, the change does not fit the model, or a hook refuses.
        case invalid = 1550
        /// A mandatory value is missing.
        case missing = 1570
        /// A to-many relationship leads to fewer objects than it must.
        case tooFewObjects = 1580
        /// A to-many relationship leads to more objects than it may.
        case tooManyObjects = 1590
        /// A relationship with the delete rule deny still leads somewhere.
        case deleteDenied = 1600
        /// A number is above its maximum, or too large for its type.
        case numberTooLarge = 1610
        /// A number is below its minimum, or too small for its type.
        case numberTooSmall = 1620
        /// A date is later than its maximum.
        case dateTooLate = 1630
        /// A date is earlier than its minimum.
        case dateTooEarly = 1640
        /// A date is infinitely far away.
        case invalidDate = 1650
        /// Text or data is longer than its maximum length, or takes too long to compare with its
        /// pattern.
        case tooLong = 1660
        /// Text or data is shorter than its minimum length.
        case tooShort = 1670
        /// Text does not match its pattern.
        case patternMismatch = 1680
        /// Text is not a URL.
        case invalidURL = 1690
    }

    /// The object; nil for a failure from a hook before the context has filled it in.
    public var object: ObjectID?
    /// The identifier of the object's present or future store; nil as for ``object``, and for an
    /// object without a store.
    ///
    /// Objects of different stores may have the same ``object``.
    public var storeIdentifier: UUID?
    /// The name of the property at fault; nil when it is the object as a whole.
    public var property: String?
    /// The kind of rule that is broken.
    public let reason: Reason
    /// One sentence that names object and property but no value.
    public let message: String
    /// The program's own error that a hook has thrown, if any; equality ignores it.
    public var cause: (any Error)?

    /// Describes a failure.
    ///
    /// - Parameters:
    ///   - reason: The kind of rule that is broken.
    ///   - object: The object; the context fills it in when a hook throws the failure.
    ///   - property: The name of the property at fault.
    ///   - message: One sentence.
    ///   - cause: The error behind the failure, if there is one.
    public init(
        _ reason: Reason, object: ObjectID? = nil, property: String? = nil, _ message: String,
        cause: (any Error)? = nil
    ) {
        self.reason = reason
        self.object = object
        self.property = property
        self.message = message
        self.cause = cause
    }

    /// The number that Core Data gives such an error, from 1550 to 1690.
    public var number: Int { reason.rawValue }
}

extension ValidationFailure: Hashable {
    /// Whether both report the same failure.
    public static func == (left: ValidationFailure, right: ValidationFailure) -> Bool {
        left.reason == right.reason && left.object == right.object
            && left.storeIdentifier == right.storeIdentifier && left.property == right.property
            && left.message == right.message
    }

    /// Hashes the parts that equality compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(reason)
        hasher.combine(object)
        hasher.combine(property)
    }
}

extension ValidationFailure: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}

extension ValidationFailure {
    /// A relationship under the rule deny that still leads from an object to be deleted to others.
    package static func deleteDenied(
        _ object: ObjectID, _ name: String, _ property: String, count: Int
    ) -> ValidationFailure {
        ValidationFailure(
            .deleteDenied, object: object, property: property,
            "'\(name)' cannot be deleted while its relationship '\(property)' leads to \(count) "
                + "object\(count == 1 ? "" : "s").")
    }

    /// This failure with its store, if it has none yet.
    package func inStore(_ identifier: UUID?) -> ValidationFailure {
        var placed = self
        if object != nil { placed.storeIdentifier = storeIdentifier ?? identifier }
        return placed
    }

    /// By store, by object, then by property.
    package func precedes(_ other: ValidationFailure) -> Bool {
        guard storeIdentifier == other.storeIdentifier else {
            return (storeIdentifier?.uuidString ?? "") < (other.storeIdentifier?.uuidString ?? "")
        }
        guard object == other.object else {
            guard let object, let otherObject = other.object else { return object == nil }
            return object < otherObject
        }
        return (property ?? "", number, message)
            < (other.property ?? "", other.number, other.message)
    }
}
