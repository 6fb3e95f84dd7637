import Daybook
import Foundation

/// Reads a store of 'Tools/damage' through the library, in every way in which a program reads.
@main
struct Command {
    private static let help = """
        USAGE: daybook-readings STORE CHECKPOINT KEY

        Prints a line for each way of reading: its name, and a sum over what was read or 'refused'. The
        reason of a refusal is on standard error. 'Tools/damage' compares the lines with those of the
        sound store. CHECKPOINT is a signed checkpoint of it, KEY the public key.

        Ends with 0 when nothing was refused, 3 when something was, 2 when it is asked something else.

        """

    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count == 3, !words.contains(where: { $0.hasPrefix("-") }) else {
            report(help)
            exit(2)
        }
        var isRefused = false
        for reading in Reading.allCases {
            do {
                print(
                    "\(reading): \(try reading.sum(words[0], checkpoint: words[1], key: words[2]))")
            } catch {
                isRefused = true
                report("\(reading): \(error)\n")
                print("\(reading): refused")
            }
        }
        exit(isRefused ? 3 : 0)
    }

    private static func report(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
