import Foundation

// The room of questions about the past: asked of Daybook's journal, and of the audit table that a user of SQLite keeps
// with triggers and indexes for them; and of what a program sums up of the past as it goes on.

/// A question about what was, or about what has changed.
enum PastQuestion: String, CaseIterable {
    case changedSince = "q18"
    case changedBy = "q19"
    case ever = "q20"
    case asOf = "q21"
    case falls = "q22"

    func title(_ sample: PastSample) -> String {
        switch self {
        case .changedSince:
            "objects changed since one of the last 20 of \(sample.saves.grouped) saves"
        case .changedBy: "objects changed by one of \(PastSample.authors) authors"
        case .ever: "objects that ever had a value as few had"
        case .asOf: "found by two terms that half and a tenth meet, as of half of the saves"
        case .falls: "what has fallen since a tenth of the saves, from what to what, by whom"
        }
    }
}

/// A system that is asked about the past of the same accounts.
protocol AskedAboutThePast: AnyObject {
    /// The name in the report.
    static var name: String { get }

    /// Makes a store in a folder, with its past.
    init(in folder: URL, _ sample: PastSample) throws
    /// Answers a question.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - turn: How often it has been asked; the values asked for differ.
    /// - Returns: A number that follows from everything found.
    /// - Throws: Errors of the library.
    func answer(_ question: PastQuestion, turn: Int) throws -> Int
    /// Works out the sum of all amounts that ever were, by author, and keeps it, from the saves that have come
    /// since it was last worked out.
    func catchUp() throws
    /// A number that follows from the sums.
    func sums() throws -> Int
    /// Forgets the sums.
    func forgetSums() throws
    /// Makes one more save, the one of that number.
    func save(_ number: Int) throws
    /// Closes the store.
    func close() throws
}

/// The data: accounts, and saves that each change some of them, by one author or another.
struct PastSample: Sendable {
    let accounts: Int
    let saves: Int
    /// The accounts that a save changes.
    static let saveLength = 100
    static let authors = 100
    static let kinds = 10
    static let amounts = 100_000

    init(scaleName: String) {
        switch scaleName {
        case "tiny": (accounts, saves) = (2_000, 60)
        case "full": (accounts, saves) = (50_000, 2_000)
        default: (accounts, saves) = (20_000, 500)
        }
    }

    var changes: Int { saves * Self.saveLength }

    func name(_ account: Int) -> String { "Account number \(account)" }
    func author(_ save: Int) -> String { "author\((save * 7) % Self.authors)" }
    /// The accounts of a save, all different.
    func account(_ save: Int, _ place: Int) -> Int { (save * 7_919 + place * 487) % accounts }
    func kind(_ save: Int, _ place: Int) -> Int { (save + place) % Self.kinds }
    /// Those of save 0 are what the accounts are made with.
    func amount(_ save: Int, _ place: Int) -> Int {
        Int(truncatingIfNeeded: (UInt64(save) &* 6_364_136_223 &+ UInt64(place) &* 40_503) >> 3)
            % Self.amounts
    }

    // MARK: - What is asked

    func recent(_ turn: Int) -> Int { saves - 10 - turn % 10 }
    func author(asked turn: Int) -> String { "author\((turn * 13) % Self.authors)" }
    /// One in two hundred values is greater.
    func high(_ turn: Int) -> Int { Self.amounts - 500 - turn }
    func middle(_ turn: Int) -> Int { saves / 2 + turn % 10 }
    func tenth(_ turn: Int) -> Int { saves - saves / 10 - turn % 10 }
}
