import Daybook
import Foundation

/// An account, whose balance follows from its postings.
final class Account: ManagedObject {
    @Attribute(.unique) var name: String
    @Attribute var owner: String?
    /// An account with postings cannot be deleted.
    @Relationship(.deny, inverse: \Posting.account) var postings: Set<Posting>

    var balance: Decimal { postings.reduce(0) { $0 + $1.amount } }
}

/// One side of a payment: what an account gets, or gives when the amount is below zero.
final class Posting: ManagedObject {
    @Attribute var amount: Decimal = 0
    @Attribute var text: String = ""
    @Relationship(.nullify) var account: Account?
}
