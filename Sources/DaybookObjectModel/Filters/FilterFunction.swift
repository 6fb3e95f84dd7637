/// A function of values in a filter.
///
/// It is null where an argument is null or of a type that it does not take. Whole numbers stay whole: `7 / 2`
/// is 3, as in SQL and in Swift. A whole number that needs more than 64 bits goes on as a decimal number, and
/// a decimal number of more than 38 digits as a binary one.
package enum FilterFunction: String, Sendable, Hashable, CaseIterable {
    /// The sum; of a date and seconds, a date.
    case add = "+"
    /// The difference; of two dates in seconds, of a date and seconds a date.
    case subtract = "-"
    /// The product.
    case multiply = "*"
    /// The quotient, of whole numbers without its fraction; null for division by zero.
    case divide = "/"
    /// The power.
    case power = "**"
    /// The number with the other sign.
    case negate
    /// What division leaves, with the sign of the first number; null for division by zero.
    case modulus
    /// The number without its sign.
    case absolute = "abs"
    /// The whole number not below.
    case ceiling
    /// The whole number not above.
    case floor
    /// The number without its fraction.
    case truncate = "trunc"
    /// The square root; null of a negative number.
    case squareRoot = "sqrt"
    /// The natural logarithm; null of zero and less.
    case naturalLogarithm = "ln"
    /// The logarithm to base 10; null of zero and less.
    case logarithm = "log"
    /// The power of *e*.
    case exponential = "exp"
    /// The number of characters of a text.
    case length
    /// The text in small letters.
    case lowercase
    /// The text in capital letters.
    case uppercase
    /// The text without case and diacritics.
    case canonical
    /// The year of a date in UTC.
    case year
    /// The month, from 1.
    case month
    /// The day of the month, from 1.
    case day
    /// The hour, from 0.
    case hour
    /// The minute, from 0.
    case minute
    /// The second, from 0, without its fraction.
    case second
    /// The day of the week: 1 is Sunday, as in Foundation's Gregorian calendar.
    case weekday
}

extension FilterFunction {
    /// What its arguments are.
    package enum Domain: Sendable {
        case numbers
        /// Numbers, or dates beside numbers of seconds.
        case numbersOrDates
        case text
        case date
    }

    package var domain: Domain {
        switch self {
        case .add, .subtract: .numbersOrDates
        case .multiply, .divide, .power, .negate, .modulus, .absolute, .ceiling, .floor, .truncate,
            .squareRoot, .naturalLogarithm, .logarithm, .exponential:
            .numbers
        case .length, .lowercase, .uppercase, .canonical: .text
        case .year, .month, .day, .hour, .minute, .second, .weekday: .date
        }
    }

    /// The number of its arguments.
    package var argumentCount: Int {
        switch self {
        case .add, .subtract, .multiply, .divide, .power, .modulus: 2
        default: 1
        }
    }

    /// How tightly it binds where it is written between its arguments; nil for the others.
    var precedence: Int? {
        switch self {
        case .add, .subtract: 1
        case .multiply, .divide: 2
        case .power: 3
        default: nil
        }
    }

    /// Other names for functions: Apple's.
    private static let otherNames: [String: FilterFunction] = [
        "add:to": .add, "from:subtract": .subtract, "multiply:by": .multiply, "divide:by": .divide,
        "raise:toPower": .power, "modulus:by": .modulus, "uppercaseString": .uppercase,
        "lowercaseString": .lowercase,
    ]

    /// The function of a name that is followed by arguments in parentheses.
    init?(name: String) {
        let key = name.lowercased()
        let named = Self.allCases.first { $0.precedence == nil && $0.rawValue == key }
        let other = Self.otherNames.first { $0.key.lowercased() == key }?.value
        guard let function = named ?? other, function != .negate else { return nil }
        self = function
    }
}
