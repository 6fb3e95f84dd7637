// A program that misuses the library, or reaches an impossible state, prints the reason on standard
// error before it stops. Swift's own `precondition` and `preconditionFailure` say nothing in a
// release build; `fatalError` prints in every one.

/// Stops the program with a sentence on standard error, in every build.
///
/// - Parameters:
///   - sentence: The mistake and the remedy.
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
///   - condition: The caller's duty, or an invariant.
///   - sentence: The mistake and the remedy.
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
