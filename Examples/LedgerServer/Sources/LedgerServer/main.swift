import Daybook
import Foundation

// Serves a ledger until its standard input ends. What has been answered is saved, so it may end at any moment.
let words = CommandLine.arguments
guard words.count == 3, let port = UInt16(words[2]) else {
    print("usage: LedgerServer FILE PORT")
    exit(2)
}
do {
    let container = try PersistentContainer(
        URL(filePath: words[1]), model: [Account.self, Posting.self])
    let service = try LedgerService(container)
    let server = try HTTPServer(port: port) { await service.answer($0) }
    // At once, also where the output is no terminal.
    FileHandle.standardOutput.write(Data("Serving http://127.0.0.1:\(server.port)\n".utf8))
    while readLine() != nil {}
} catch {
    report(error)
    exit(1)
}
