import Foundation
import Synchronization

/// A sentence on standard error about something that goes on all the same.
package enum Warning {
    private static let told = Mutex<Set<String>>([])

    /// Writes a sentence, the first time that something is warned of in the process.
    ///
    /// - Parameters:
    ///   - topic: What is warned of.
    ///   - sentence: What is wrong and what would be right.
    package static func once(_ topic: String, _ sentence: @autoclosure () -> String) {
        guard told.withLock({ $0.insert(topic).inserted }) else { return }
        do {
            try FileHandle.standardError.write(contentsOf: Data("warning: \(sentence())\n".utf8))
        } catch {
            // Standard error is closed: there is nobody to be told, of this neither.
            return
        }
    }
}
