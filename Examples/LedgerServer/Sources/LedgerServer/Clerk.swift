import Daybook
import Foundation

/// A payment, as clients send it.
struct Payment: Decodable, Sendable {
    let by: String
    let from: String
    let to: String
    let amount: Decimal
    let text: String

    /// Refuses what no clerk would book.
    func check() throws {
        guard (1...50).contains(by.utf8.count), (1...200).contains(text.utf8.count) else {
            throw Refusal(status: 422, reason: "Say who pays, and what for, in a few words.")
        }
        guard amount > 0, amount <= 1_000_000, from != to else {
            throw Refusal(
                status: 422, reason: "A payment is up to a million, from one account to another.")
        }
    }
}

/// What clients are told of a payment.
struct Receipt: Encodable, Sendable {
    let entry: UInt64?
    let postings: [ObjectSnapshot<Posting>]
}

/// Books a payment, in a context of its own, while others book theirs.
///
/// The actor lives on the queue of its context. So its methods may use objects, the compiler sees that none gets out,
/// and what goes out is a snapshot.
actor Clerk: ContextActor {
    /// Where money comes from. Nothing else may give more than it has.
    private static let source = "Capital"

    nonisolated let context: ManagedObjectContext
    private let store: PersistentStore

    init(in container: PersistentContainer, _ store: PersistentStore) {
        context = container.newBackgroundContext()
        self.store = store
    }

    /// Books a payment as one entry of the journal, unless the giver has less.
    func book(_ payment: Payment, info: [String: String]) throws -> Receipt {
        while true {
            do {
                return try bookOnce(payment, info)
            } catch let error as StoreError where error.code == .conditionFailed {
                // Somebody else was faster, and the balance is another one. Each time another payment has been
                // booked, so this comes to an end.
                context.rollback()
            }
        }
    }

    /// Decides on what an account has, and saves only if that is still so. Without the condition two clerks could
    /// each give away the last that there is, and neither would notice: they change nothing in common.
    private func bookOnce(_ payment: Payment, _ info: [String: String]) throws -> Receipt {
        let seen = try store.head()
        let (giver, taker) = try (account(payment.from), account(payment.to))
        let postings = FetchRequest<Posting>(where: \.account == giver)
        let balance = try context.fetch(.sum(\.amount), of: postings)
        guard balance >= payment.amount || giver.name == Self.source else {
            throw Refusal(status: 422, reason: "'\(giver.name)' has only \(balance).")
        }
        let sides = [
            post(-payment.amount, to: giver, payment.text),
            post(payment.amount, to: taker, payment.text),
        ]
        let entry = try context.save(
            ifUnchanged: postings, since: seen, author: payment.by, note: payment.text, info: info)
        return Receipt(entry: entry?.rawValue, postings: try sides.map { try $0.snapshot() })
    }

    private func account(_ name: String) throws -> Account {
        let request = FetchRequest<Account>(where: \.name == name)
        guard let account = try context.fetch(request).first else {
            throw Refusal(status: 422, reason: "There is no account '\(name)'.")
        }
        return account
    }

    private func post(_ amount: Decimal, to account: Account, _ text: String) -> Posting {
        let posting = Posting(context: context)
        posting.amount = amount
        posting.text = text
        posting.account = account
        return posting
    }
}
