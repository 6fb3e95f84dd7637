import Foundation

guard CommandLine.arguments.count == 2 else {
    print("usage: Ledger FILE")
    exit(2)
}
do {
    try keepBooks(in: CommandLine.arguments[1])
} catch {
    print("error: \(error)")
    exit(1)
}
