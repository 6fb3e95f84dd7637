import Foundation

/// A question that a program asks of many objects.
enum Question: String, CaseIterable {
    case indexedEquality = "q1"
    case indexedRange = "q2"
    case scan = "q3"
    case scanText = "q4"
    case firstInIndexOrder = "q5"
    case topWithoutIndex = "q6"
    case throughToOne = "q7"
    case offset = "q8"
    case sum = "q9"
    case count = "q10"
    case members = "q11"
    case groupedSum = "q16"
    case compoundOrder = "q17"

    var title: String {
        switch self {
        case .indexedEquality: "100 rows found by an indexed text"
        case .indexedRange: "1,000 rows found by a range of an indexed number"
        case .scan: "1 % found by two terms without an index"
        case .scanText: "as many found by a text within a text"
        case .firstInIndexOrder: "first 50 in the order of an index"
        case .topWithoutIndex: "top 50 without an index"
        case .throughToOne: "2 % found by an attribute of a to-one relationship"
        case .offset: "50 after half of the rows"
        case .sum: "sum of one attribute"
        case .count: "count with a condition"
        case .members: "50 to-many lists, with one attribute of each member"
        case .groupedSum: "sum of one attribute for each of 50 values of another"
        case .compoundOrder: "last 50 of a range within a team, by an index over both"
        }
    }

    /// The least ratio to SQLite's rate that is asked for, and the ratio that is aimed at.
    var target: Target {
        switch self {
        case .indexedEquality, .indexedRange, .firstInIndexOrder, .compoundOrder:
            .toSQLite(0.8, aim: 1.5)
        case .scan, .scanText, .topWithoutIndex, .sum, .count: .toSQLite(1, aim: 2)
        case .throughToOne, .members: .toSQLite(0.7, aim: 1)
        case .offset, .groupedSum: .toSQLite(0.5, aim: 1)
        }
    }
}

/// A system that is asked questions about the same staff.
protocol Questioned: AnyObject {
    /// The name in the report.
    static var name: String { get }

    /// Makes a store in a folder.
    init(in folder: URL, _ staff: Staff) throws
    /// Answers a question as a program would that goes on to use what it finds.
    ///
    /// - Parameters:
    ///   - question: The question.
    ///   - turn: How often it has been asked; the values asked for differ.
    /// - Returns: A number that follows from everything found.
    /// - Throws: Errors of the library.
    func answer(_ question: Question, turn: Int) throws -> Int
    /// Closes the store.
    func close() throws
}

/// The data: people of six attributes in teams, the same for every contender.
struct Staff: Sendable {
    let count: Int
    /// 200 people are in each.
    let teamCount: Int
    /// 20 teams are in each.
    let cityCount: Int

    init(scaleName: String) {
        switch scaleName {
        case "tiny": count = 4_000
        case "full": count = 200_000
        default: count = 50_000
        }
        teamCount = count / 200
        cityCount = max(1, teamCount / 20)
    }

    func name(_ index: Int) -> String { "Person number \(index)" }
    /// 100 people have the same.
    func badge(_ index: Int) -> String { "B\(index % (count / 100))" }
    func age(_ index: Int) -> Int { (index * 7_919) % 50 }
    func salary(_ index: Int) -> Double { Double((index * 104_729) % count) / 4 }
    /// One in a hundred has the word that is looked for.
    func remark(_ index: Int) -> String {
        let word = (index * 31) % 100 == 7 ? "amber" : "green"
        return "wears a hat of \(word) felt, is number \(index) in the list"
    }
    func team(_ index: Int) -> Int { (index * 13) % teamCount }
    func city(ofTeam team: Int) -> String { "City \(team % cityCount)" }
}
