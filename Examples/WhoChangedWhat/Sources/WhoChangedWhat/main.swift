import Foundation

guard CommandLine.arguments.count > 1 else {
    print("usage: WhoChangedWhat FILE [AUTHOR …]")
    exit(2)
}
do {
    try report(on: CommandLine.arguments[1], by: CommandLine.arguments.dropFirst(2))
} catch {
    print("error: \(error)")
    exit(1)
}
