import Daybook
import Foundation

// Shows what is in an account, and each change as soon as anybody has saved it, until it is interrupted, or until an
// entry if one is given.
let words = CommandLine.arguments
guard (3...4).contains(words.count),
    let last = UInt64(words.count == 4 ? words[3] : "\(UInt64.max)")
else {
    print("usage: LiveLedger FILE ACCOUNT [ENTRY]")
    exit(2)
}

func show(_ lines: [String]) {
    // At once, also where the output is no terminal.
    FileHandle.standardOutput.write(Data(lines.map { $0 + "\n" }.joined().utf8))
}

do {
    var options = PersistentStoreOptions()
    // The system wakes this program when another one saves.
    options.remoteChanges = .immediate
    let container = try PersistentContainer(
        URL(filePath: words[1]), model: [Account.self, Posting.self], options: options)
    let ledger = try LiveLedger(of: words[2], in: container)
    let (lines, differences) = await ledger.begin()
    show(lines)
    for await difference in differences {
        show(await ledger.words(for: difference))
        if difference.entries.contains(where: { $0.sequence.rawValue >= last }) { break }
    }
} catch {
    FileHandle.standardError.write(Data("error: \(error)\n".utf8))
    exit(1)
}
