import Daybook
import Foundation

/// Somebody who books, in a context of their own.
///
/// Two clerks see each other's work only when it has been saved and merged.
struct Clerk {
    let name: String
    let context: ManagedObjectContext

    init(_ name: String, in container: PersistentContainer) {
        self.name = name
        context = container.newBackgroundContext()
        context.undoManager = UndoManager()
    }

    /// Opens an account.
    func open(_ account: String) {
        context.performAndWait { Account(context: context).name = account }
    }

    /// Books a payment: one account gives what the other gets.
    ///
    /// To fetch ends an event, and each event would be a step for undo; the group makes all of it one.
    func pay(_ amount: Decimal, from giver: String, to taker: String, for text: String) throws {
        try context.performAndWait {
            context.undoManager?.beginUndoGrouping()
            defer { context.undoManager?.endUndoGrouping() }
            for (name, share) in [(giver, -amount), (taker, amount)] {
                let posting = Posting(context: context)
                posting.amount = share
                posting.text = text
                posting.account = try account(name)
            }
        }
    }

    /// Says whose an account is.
    func give(_ name: String, to owner: String) throws {
        try context.performAndWait { try account(name).owner = owner }
    }

    /// Takes back what was done last.
    func undo() {
        context.performAndWait { context.undo() }
    }

    /// Saves everything that is pending as one entry of the journal.
    @discardableResult
    func save(_ note: String) throws -> SequenceNumber? {
        try context.performAndWait { try context.save(author: name, note: note) }
    }

    /// The balance as this clerk sees it.
    func balance(of name: String) throws -> Decimal {
        try context.performAndWait { try account(name).balance }
    }

    private func account(_ name: String) throws -> Account {
        let request = FetchRequest<Account>(where: \Account.name == name)
        guard let account = try context.fetch(request).first else {
            throw LedgerError(description: "There is no account '\(name)'.")
        }
        return account
    }
}

struct LedgerError: Error, CustomStringConvertible {
    let description: String
}
