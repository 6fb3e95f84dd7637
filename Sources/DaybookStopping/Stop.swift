// A program that misuses the library, or finds what cannot be, is told why on standard error before it
// stops. Swift's own `precondition` and `preconditionFailure` say nothing in a release build; `fatalError`
// speaks in every one.

/// Stops the program with a sentence on standard error, in every build.
///
/// - Parameters:
///   - sentence: What is wrong and what would be right.
///   - file: Where.
///   - line: Where.
@usableFromInline
package func stop(
    _ sentence: String, file: StaticString = #fileID, line: UInt = #line
) -> Never {
    fatalError(sentence, file: file, line: line)
}

/// Stops the program with a sentence on standard error unless a condition holds, in every build.
///
/// - Parameters:
///   - condition: What the caller answers for, or what cannot be otherwise.
///   - sentence: What is wrong and what would be right.
///   - file: Where.
///   - line: Where.
@inlinable  // So that a condition that holds costs what an `if` costs.
package func require(
    _ condition: Bool, _ sentence: @autoclosure () -> String, file: StaticString = #fileID,
    line: UInt = #line
) {
    if !condition { stop(sentence(), file: file, line: line) }
}

/// Stops a debug build with a sentence on standard error. Does nothing in a release build.
package func stopDebugBuild(
    _ sentence: String, file: StaticString = #fileID, line: UInt = #line
) {
    assertionFailure(sentence, file: file, line: line)
}
