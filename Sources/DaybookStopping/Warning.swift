import Foundation
import Synchronization

/// A sentence on standard error about a problem that does not stop the program.
package enum Warning {
    private static let told = Mutex<Set<String>>([])

    /// Writes a sentence, once for each topic in the process.
    ///
    /// - Parameters:
    ///   - topic: The topic.
    ///   - sentence: The mistake and the remedy.
    package static func once(_ topic: String, _ sentence: @autoclosure () -> String) {
        guard told.withLock({ $0.insert(topic).inserted }) else { return }
        do {
            try FileHandle.standardError.write(contentsOf: Data("warning: \(sentence())\n".utf8))
        } catch {
            // Standard error is closed: the failure cannot be reported either.
            return
        }
    }
}
