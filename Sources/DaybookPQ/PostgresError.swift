// The door to PostgreSQL: all pointers of libpq are in this module, which knows nothing of journals.

internal import CDaybookPQ

/// The reason why a server of PostgreSQL, or libpq, did not do what it was asked for.
///
/// It has the first line of what the server said. The others, such as DETAIL, repeat values of rows.
package struct PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of reason.
    package enum Code: Sendable, Hashable {
        /// The description of the servers says what may not stand in one, or cannot be read.
        case description
        /// The server cannot be reached, or the connection to it was lost.
        case unreachable
        /// The answer did not come in time; the connection was closed.
        case late
        /// The server refused a statement, and the connection is still there.
        case refused
        /// The answer is not what was asked for.
        case unexpected
    }

    /// The kind of reason.
    package let code: Code
    /// The five characters by which PostgreSQL names an error; nil when it is not a server's.
    package let state: String?
    /// One line without values.
    package let message: String

    /// A reason with all that it says.
    ///
    /// - Parameters:
    ///   - code: The kind.
    ///   - state: The server's name of the error.
    ///   - message: Its first line is kept, as far as people read it, and without what terminals obey.
    package init(_ code: Code, state: String? = nil, _ message: String) {
        self.code = code
        self.state = state
        let line = message.split(whereSeparator: \.isNewline).first?.prefix(Self.lengthMaximum)
        self.message = line.map(Self.printable) ?? "The server gave no reason."
    }

    private static func printable(_ line: Substring) -> String {
        var text = String.UnicodeScalarView()
        for scalar in line.unicodeScalars {
            text.append(scalar.properties.generalCategory == .control ? "\u{FFFD}" : scalar)
        }
        return String(text)
    }

    private static let lengthMaximum = 1_000

    /// The message, with the name of the error.
    package var description: String {
        guard let state else { return message }
        return "\(message) (SQLSTATE \(state))"
    }
}

extension PostgresError {
    /// libpq's reason for the failure of a connection.
    ///
    /// - Parameter handle: The connection.
    init(of handle: OpaquePointer?) {
        self.init(
            .unreachable, handle.flatMap { PQerrorMessage($0) }.map { String(cString: $0) } ?? "")
    }

    /// The server's reason in a result.
    ///
    /// - Parameters:
    ///   - result: The result.
    ///   - isLost: Whether the connection has ended with it.
    init(result: OpaquePointer, isLost: Bool) {
        let state = Self.field(daybook_field_state, of: result)
        let message =
            Self.field(daybook_field_message, of: result)
            ?? PQresultErrorMessage(result).map { String(cString: $0) } ?? ""
        self.init(isLost ? .unreachable : .refused, state: state, message)
    }

    /// A field of a result that reports an error or a warning.
    ///
    /// - Parameters:
    ///   - name: One of libpq's characters.
    ///   - result: The result.
    /// - Returns: The field; nil when it has none of that name.
    static func field(_ name: Int32, of result: OpaquePointer) -> String? {
        PQresultErrorField(result, name).map { String(cString: $0) }
    }

    /// The connection has been closed.
    static var closed: PostgresError {
        PostgresError(.unreachable, "The connection to the server has been closed.")
    }
}
