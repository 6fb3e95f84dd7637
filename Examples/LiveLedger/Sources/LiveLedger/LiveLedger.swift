import Daybook
import Foundation

/// The postings of one account and their sum, on the queue of a context that follows everybody's saves.
///
/// Nothing is fetched again: a save costs a look at what it has changed.
actor LiveLedger: ContextActor {
    nonisolated let context: ManagedObjectContext
    private let postings: ResultsObserver<Posting>
    private let balance: ValueObserver<Decimal>
    /// What is shown of each posting, also when there is none any more.
    private var lines: [ManagedObjectID: String] = [:]

    init(of account: String, in container: PersistentContainer) throws {
        let context = container.newBackgroundContext()
        self.context = context
        (postings, balance) = try context.performAndWait {
            context.automaticallyMergesChangesFromParent = true
            var request = FetchRequest<Posting>(where: \.account?.name == account)
            request.order = [.ascending(\.text), .ascending(\.amount)]
            return (
                try ResultsObserver(request, in: context),
                try ValueObserver(.sum(\Posting.amount), of: request, in: context)
            )
        }
    }

    /// The list as it is, and what becomes of it from there on.
    func begin() -> (lines: [String], differences: ResultsChanges<ResultsDifference>) {
        (postings.objects.map { "  \(line(of: $0))" } + [sum], postings.differences)
    }

    /// A difference in words: what has come, gone and changed, through which entry, and the sum now.
    func words(for difference: ResultsDifference) -> [String] {
        difference.changes.map { change in
            let id = change.objectID
            let entry = difference.entry(of: id)
            let cause = entry.map { "  (entry \($0.sequence), \($0.author ?? "nobody"))" } ?? ""
            return switch change {
            case .insert: "+ \(line(of: id))\(cause)"
            case .delete: "- \(lines.removeValue(forKey: id) ?? "")\(cause)"
            case .move, .update: "~ \(line(of: id))\(cause)"
            }
        } + [sum]
    }

    private var sum: String { "  = \(balance.value)" }

    /// The line of a posting that a difference names. The list may be further on: what has left it since keeps the
    /// line that it had, and goes with the next difference.
    private func line(of id: ManagedObjectID) -> String {
        guard let posting = context.object(with: id) as? Posting,
            postings.offset(of: posting) != nil
        else { return lines[id] ?? "" }
        return line(of: posting)
    }

    private func line(of posting: Posting) -> String {
        let line = "\(posting.amount) for \(posting.text)"
        lines[posting.objectID] = line
        return line
    }
}
