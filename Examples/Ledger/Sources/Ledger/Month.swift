import Daybook
import Foundation

/// A month in a small ledger: two clerks who book at the same time, a slip that is undone before it is
/// saved, one that is undone afterwards, and the books as they were when the month ended.
func keepBooks(in file: String) throws {
    let container = try PersistentContainer(
        URL(filePath: file), model: [Account.self, Posting.self])
    let (ada, ben) = (Clerk("ada", in: container), Clerk("ben", in: container))

    for account in ["Capital", "Cash", "Food", "Rent"] { ada.open(account) }
    try ada.pay(1000, from: "Capital", to: "Cash", for: "Start")
    try ada.save("Opened the books")

    // Undo before the save: the journal never hears of the slip.
    try ada.pay(9000, from: "Cash", to: "Rent", for: "May")
    ada.undo()
    try ada.pay(900, from: "Cash", to: "Rent", for: "May")
    try ada.save("Rent")

    // Both book on one account at the same time. Neither waits, and neither payment is lost.
    try ada.pay(30, from: "Cash", to: "Food", for: "Bread")
    try ben.pay(20, from: "Cash", to: "Food", for: "Milk")
    try ada.save("Groceries")
    let milk = try ben.save("More groceries")
    print("Cash after both have booked: \(try ben.balance(of: "Cash"))")

    // Both change one property: the second is told of the first, and decides.
    try container.setTag("end-of-May")
    try ada.give("Food", to: "Ada")
    try ben.give("Food", to: "Ben")
    try ada.save("Food is mine")
    do {
        try ben.save("Food is mine")
    } catch let error as StoreError where error.code == .conflict {
        let names = error.conflicts.compactMap(\.propertyName)
        print("Ben is told of a conflict over '\(names.joined(separator: "', '"))'.")
        ben.context.performAndWait { ben.context.rollback() }
    }

    // Undo after the save: a new entry takes the old one back. Nothing is erased.
    if let milk {
        try container.undo(milk, author: "ada", note: "The milk was not ours")
    }
    print("Cash without the milk: \(try Clerk("auditor", in: container).balance(of: "Cash"))")

    // The past is a context like any other, but read-only.
    let may = try container.context(at: .tag("end-of-May"))
    let cash = FetchRequest<Account>(where: \Account.name == "Cash")
    let then = try may.performAndWait { try may.fetch(cash).first?.balance }
    print("Cash at the end of May: \(then ?? 0)")
}
