import DaybookGraphTestSupport
import DaybookJournalLog
import DaybookObjectModel
import DaybookSnapshotStore
import DaybookTestSupport
import Foundation
import Synchronization
import Testing

@testable import DaybookObjectGraph

/// Contexts of programs that share a store through a journal elsewhere.
@Suite struct SharedContextTests {
    final class Team: ManagedObject {
        @Attribute(.unique) var name: String
        @Relationship(inverse: \Player.team) var players: Set<Player>
    }
    final class Player: ManagedObject {
        @Attribute var name: String = ""
        @Attribute var goals: Int = 0
        @Attribute(merge: .sum) var games: Int = 0
        @Relationship var team: Team?
    }

    /// One program, with a copy of the shared store.
    final class Program {
        let container: PersistentContainer
        private let folder: TemporaryDirectory
        private let connection: Mutex<ScriptedJournal?>

        init(_ name: String, _ server: ScriptedServer) throws {
            folder = try TemporaryDirectory()
            let connections = Connections()
            var link = SharedLink(
                to: "scripted", identify: { server.identity },
                connect: { _, _ in
                    let journal = ScriptedJournal(server, login: name)
                    connections.last.withLock { $0 = journal }
                    return journal
                })
            link.saveTimeout = .zero
            var description = PersistentStoreDescription(url: folder.url.appending(path: "copy"))
            description.sharing = StoreSharing(link)
            container = try TestContainer.make(
                model: [Team.self, Player.self], descriptions: [])
            try container.persistentStoreCoordinator.addPersistentStore(with: description)
            connection = Mutex(connections.last.withLock(\.self))
        }

        private final class Connections: Sendable {
            let last = Mutex<ScriptedJournal?>(nil)
        }

        var context: ManagedObjectContext { container.viewContext }

        var journal: ScriptedJournal {
            get throws {
                let journal = connection.withLock(\.self)
                return try #require(journal)
            }
        }

        var store: PersistentStore {
            get throws { try #require(container.persistentStoreCoordinator.persistentStores.first) }
        }

        /// Each team with its players and their goals, in a new context, after catching up.
        func teams() throws -> [String: [String: Int]] {
            try store.catchUp(within: .zero)
            let context = container.newBackgroundContext()
            return try context.performAndWait {
                var found: [String: [String: Int]] = [:]
                for team in try context.fetch(FetchRequest<Team>()) {
                    found[team.name] = Dictionary(
                        uniqueKeysWithValues: team.players.map { ($0.name, $0.goals) })
                }
                return found
            }
        }
    }

    let server = ScriptedServer()

    private func code(_ body: () throws -> Void) -> StoreError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StoreError)?.code
        }
    }

    @Test @MainActor func `what one program saves is there in the other, with its objects related`()
        throws
    {
        let (ada, ben) = (try Program("ada", server), try Program("ben", server))
        let team = Team(context: ada.context)
        team.name = "Reds"
        let player = Player(context: ada.context)
        player.name = "Kim"
        player.team = team
        try ada.context.save(author: "ada")

        #expect(try ben.teams() == ["Reds": ["Kim": 0]])
        let entry = try #require(try ben.context.history(of: player.objectID).first)
        #expect(entry.author == "ada")
    }

    @Test @MainActor func `a second copy of a store that is there is refused and leaves no file`()
        throws
    {
        let ada = try Program("ada", server)
        let folder = try TemporaryDirectory()
        let url = folder.url.appending(path: "second")
        var description = PersistentStoreDescription(url: url)
        description.sharing = StoreSharing(
            SharedLink(
                to: "scripted", identify: { [server] in server.identity },
                connect: { [server] _, _ in ScriptedJournal(server, login: "ada") }))
        let coordinator = ada.container.persistentStoreCoordinator

        #expect(code { try coordinator.addPersistentStore(with: description) } == .exists)

        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
        Team(context: ada.context).name = "Reds"
        try ada.context.save()
    }

    /// A team of two, saved by ada.
    @MainActor
    private func team(_ program: Program) throws -> (team: Team, kim: Player, lee: Player) {
        let team = Team(context: program.context)
        team.name = "Reds"
        let players = ["Kim", "Lee"].map { name in
            let player = Player(context: program.context)
            player.name = name
            player.team = team
            return player
        }
        try program.context.save()
        return (team, players[0], players[1])
    }

    /// Whether the entry in doubt was appended, and what is changed after the error, before the context is saved
    /// again.
    enum FurtherEdit: CaseIterable {
        case none, value, sameValue, back, member, delete, undeleted
    }

    @Test(arguments: [WriteFault.Landing.landed, .lost], FurtherEdit.allCases)
    @MainActor
    func `a save in doubt is saved again, with what was changed since, and nothing twice`(
        _ landing: WriteFault.Landing, _ edit: FurtherEdit
    ) throws {
        let (ada, ben) = (try Program("ada", server), try Program("ben", server))
        let (team, kim, lee) = try team(ada)
        kim.goals = 3
        ada.context.delete(lee)
        let mia = Player(context: ada.context)
        mia.name = "Mia"
        mia.team = team
        try ada.journal.script = FaultScript(appends: [.inDoubt(landing)])

        #expect(code { try ada.context.save() } == .inDoubt)
        #expect(ada.context.hasChanges)
        var expected = ["Kim": 3, "Mia": 0]
        switch edit {
        case .none: break
        case .value:
            kim.goals = 4
            mia.goals = 1
            expected = ["Kim": 4, "Mia": 1]
        case .sameValue: kim.goals = 3
        case .back:
            kim.goals = 0
            expected["Kim"] = 0
        case .member:
            let noa = Player(context: ada.context)
            noa.name = "Noa"
            team.players.insert(noa)
            expected["Noa"] = 0
        case .delete:
            ada.context.delete(mia)
            expected["Mia"] = nil
        case .undeleted:
            ada.context.undo()
            expected = ["Kim": 0, "Lee": 0]
        }
        try ada.context.save()

        #expect(!ada.context.hasChanges)
        #expect(try ben.teams() == ["Reds": expected])
        #expect(try ada.teams() == ["Reds": expected])
        #expect(
            Dictionary(uniqueKeysWithValues: team.players.map { ($0.name, $0.goals) }) == expected)
        let isSame = edit == .none || edit == .sameValue
        // Entry 1 sets the model, entry 2 has the team.
        // A save in doubt is sent again as it was; what was changed since is an entry of its own.
        #expect(server.head.sequence == SequenceNumber(isSame ? 3 : 4))
        kim.goals = 9
        try ada.context.save()
        #expect(try ben.teams()["Reds"]?["Kim"] == 9)
    }

    @Test @MainActor
    func `what others have saved before a save in doubt is a conflict with what was changed since`()
        throws
    {
        let (ada, ben) = (try Program("ada", server), try Program("ben", server))
        let (_, kim, lee) = try team(ada)
        try ben.store.catchUp(within: .zero)
        let theirs = try #require(
            try ben.context.fetch(FetchRequest<Player>(where: \Player.name == "Lee")).first)
        theirs.goals = 7
        try ben.context.save()
        kim.goals = 3
        try ada.journal.script = FaultScript(appends: [.goesWell, .inDoubt(.landed)])
        #expect(code { try ada.context.save() } == .inDoubt)

        lee.goals = 1
        #expect(code { try ada.context.save() } == .conflict)
        #expect(server.head.sequence == SequenceNumber(4))
        let conflicts = try ada.context.mergeChanges()
        #expect(conflicts.contains { $0.theirs == .int(7) && $0.ours == .int(1) })
        try ada.context.save()

        #expect(try ben.teams() == ["Reds": ["Kim": 3, "Lee": 1]])
        #expect(server.head.sequence == SequenceNumber(5))
    }

    @Test(arguments: [WriteFault.Landing.landed, .lost])
    @MainActor
    func `an update in doubt stays pending, and is saved once`(_ landing: WriteFault.Landing) throws
    {
        let (ada, ben) = (try Program("ada", server), try Program("ben", server))
        let (_, kim, _) = try team(ada)
        try ada.journal.script = FaultScript(appends: [.inDoubt(landing)])

        #expect(code { try ada.context.update { kim.goals += 10 } } == .inDoubt)
        #expect(kim.goals == 10)
        // A second one would have to run on what is not known.
        #expect(code { try ada.context.update { kim.goals += 10 } } == .pendingChanges)
        try ada.context.save()
        try ada.context.update { kim.goals += 1 }

        #expect(try ben.teams()["Reds"]?["Kim"] == 11)
    }

    /// What becomes of an entry in doubt.
    enum Fate: CaseIterable {
        case landed, lost, overtaken
    }

    @Test(arguments: Fate.allCases)
    @MainActor
    func `the error of a batch in doubt tells whether it was saved`(_ fate: Fate) throws {
        let (ada, ben) = (try Program("ada", server), try Program("ben", server))
        let (_, kim, _) = try team(ada)
        let raise = BatchUpdateRequest<Player>(
            where: \Player.name == "Kim", assigning: [.add(10, to: \.goals)])
        try ada.journal.script = FaultScript(appends: [.inDoubt(fate == .landed ? .landed : .lost)])

        var doubt: StoreError?
        do { try ada.context.execute(raise) } catch let error as StoreError { doubt = error }
        let error = try #require(doubt)
        #expect(error.code == .inDoubt)
        if fate == .overtaken {
            try ben.store.catchUp(within: .zero)
            let theirs = Team(context: ben.context)
            theirs.name = "Blues"
            try ben.context.save()
        }
        let entry = try ada.store.settle(error)
        #expect(entry == (fate == .overtaken ? nil : SequenceNumber(3)))
        if entry == nil { try ada.context.execute(raise) }

        #expect(try ben.teams()["Reds"]?["Kim"] == 10)
        ada.context.refresh(kim, mergeChanges: false)
        #expect(kim.goals == 10)
        #expect(throws: StoreError.self) {
            try ada.store.settle(StoreError(.full, "It is another error."))
        }
    }

    @Test @MainActor
    func `a copy that has made no objects yet can make them without servers`() throws {
        let ada = try Program("ada", server)
        _ = try team(ada)
        let ben = try Program("ben", server)
        server.condition = .failing(.unreachable)

        let team = Team(context: ben.context)
        team.name = "Blues"
        #expect(code { try ben.context.save() } == .unreachable)
        server.condition = .serving
        try ben.context.save()

        #expect(try ada.teams().keys.sorted() == ["Blues", "Reds"])
    }

    @Test @MainActor func `what is rolled back after a doubt is there if its entry is`() throws {
        let ada = try Program("ada", server)
        let (_, kim, _) = try team(ada)
        kim.goals = 3
        try ada.journal.script = FaultScript(appends: [.inDoubt(.landed)])
        #expect(code { try ada.context.save() } == .inDoubt)

        ada.context.rollback()
        #expect(kim.goals == 0)
        #expect(try ada.teams()["Reds"]?["Kim"] == 3)
        try ada.context.mergeChanges().forEach { Issue.record("\($0)") }
        #expect(kim.goals == 3)
    }

    @Test @MainActor
    func `without servers the context keeps its changes, and the store says since when`() throws {
        let ada = try Program("ada", server)
        let (_, kim, _) = try team(ada)
        server.condition = .failing(.unreachable)
        kim.goals = 3

        #expect(code { try ada.context.save() } == .unreachable)
        #expect(ada.context.hasChanges)
        guard case .offline? = try ada.store.link?.state else {
            Issue.record("The store does not say that it is offline.")
            return
        }
        #expect(code { try ada.store.catchUp(within: .zero) } == .unreachable)
        server.condition = .serving
        try ada.context.save()
        #expect(try ada.store.link?.place == "scripted")
        #expect(try ada.teams()["Reds"]?["Kim"] == 3)
    }

    @Test(arguments: [WriteFault.Landing.landed, .lost], [false, true])
    @MainActor
    func `a save in doubt is none of others' for a merge before it is settled`(
        _ landing: WriteFault.Landing, _ follows: Bool
    ) throws {
        let (ada, ben) = (try Program("ada", server), try Program("ben", server))
        let (team, kim, mia) = try team(ada)
        ada.context.automaticallyMergesChangesFromParent = follows
        kim.goals = 3
        let noa = Player(context: ada.context)
        noa.name = "Noa"
        noa.team = team
        ada.context.delete(mia)
        try ada.journal.script = FaultScript(appends: [.inDoubt(landing)])
        #expect(code { try ada.context.save() } == .inDoubt)
        try ben.store.catchUp(within: .zero)
        let theirs = Team(context: ben.context)
        theirs.name = "Blues"
        try ben.context.save()

        try ada.store.catchUp(within: .zero)
        let conflicts = try ada.context.mergeChanges()
        #expect(conflicts.isEmpty)
        #expect(noa.isInserted && kim.isUpdated)
        noa.goals = 2
        kim.goals = 4
        try ada.context.save()

        _ = try ada.context.mergeChanges().map { Issue.record("\($0)") }
        #expect(!ada.context.hasChanges)
        #expect(kim.goals == 4 && noa.goals == 2)
        let expected: [String: [String: Int]] = [
            "Reds": ["Kim": 4, "Noa": 2], "Blues": [:],
        ]
        #expect(try ada.teams() == expected)
        #expect(try ben.teams() == expected)
        #expect(Set(team.players) == [kim, noa])
        #expect(try ada.context.count(FetchRequest<Team>()) == 2)
    }

    @Test(arguments: [false, true])
    @MainActor
    func `what others have saved after a save in doubt is merged over it`(_ follows: Bool) throws {
        let (ada, ben) = (try Program("ada", server), try Program("ben", server))
        let (_, kim, lee) = try team(ada)
        ada.context.automaticallyMergesChangesFromParent = follows
        kim.goals = 3
        kim.games += 2
        let noa = Player(context: ada.context)
        noa.name = "Noa"
        try ada.journal.script = FaultScript(appends: [.inDoubt(.landed)])
        #expect(code { try ada.context.save() } == .inDoubt)
        try ben.store.catchUp(within: .zero)
        for player in try ben.context.fetch(FetchRequest<Player>()) {
            switch player.name {
            case "Kim": (player.goals, player.games) = (5, player.games + 10)
            case "Lee": player.goals = 7
            case "Noa": player.goals = 9
            default: break
            }
        }
        try ben.context.save()
        lee.goals = 1

        // What was changed since the doubt meets what they have saved, and nothing else does.
        if !follows { #expect(code { try ada.context.save() } == .conflict) }
        try ada.store.catchUp(within: .zero)
        let conflicts = try ada.context.mergeChanges()
        #expect(conflicts.map(\.object) == [lee.objectID.object])
        #expect(conflicts.first?.theirs == .int(7))
        #expect(kim.goals == 5 && kim.games == 12)
        try ada.context.save()

        #expect(!ada.context.hasChanges)
        #expect(kim.goals == 5 && kim.games == 12 && lee.goals == 1 && noa.goals == 9)
        try ben.store.catchUp(within: .zero)
        _ = try ben.context.mergeChanges()
        var found: [String: [Int]] = [:]
        for player in try ben.context.fetch(FetchRequest<Player>()) {
            found[player.name] = [player.goals, player.games]
        }
        #expect(found["Kim"] == [5, 12] && found["Lee"] == [1, 0] && found["Noa"] == [9, 0])
    }

    @Test @MainActor func `a cursor and kept values move with a save in doubt that has landed`()
        throws
    {
        let ada = try Program("ada", server)
        let (_, kim, _) = try team(ada)
        let cursor = try ada.store.cursor(named: "counter")
        kim.goals = 3
        let values = ["state": Value.string("counted")]
        try ada.store.keep(values)
        try ada.journal.script = FaultScript(appends: [.inDoubt(.landed)])
        let place = SequenceNumber(2)
        #expect(code { try ada.context.save(moving: cursor, to: place) } == .inDoubt)

        try ada.context.save(moving: cursor, to: place)

        #expect(cursor.position == place)
        #expect(try ada.store.cursor(named: "counter").position == place)
        #expect(try ada.store.store.userValues() == values)
        try cursor.move(to: SequenceNumber(3))
        #expect(try ada.store.cursor(named: "counter").position == SequenceNumber(3))
    }

    @Test(arguments: [false, true])
    @MainActor func `a save that there be none is its own only once it has landed`(
        catchesUp: Bool
    ) throws {
        let ada = try Program("ada", server)
        let none = FetchRequest<Player>(where: \.name == "Mia")
        let mia = Player(context: ada.context)
        mia.name = "Mia"
        try ada.journal.script = FaultScript(appends: [.inDoubt(.landed)])
        #expect(code { try ada.context.save(ifNone: none) } == .inDoubt)
        if catchesUp { try ada.store.catchUp(within: .zero) }

        let landed = try ada.context.save(ifNone: none)

        #expect(try landed == ada.store.head())
        #expect(!ada.context.hasChanges)
        Player(context: ada.context).name = "Mia"
        #expect(code { try ada.context.save(ifNone: none) } == .conditionFailed)
    }

    @Test @MainActor
    func `a save in doubt that has landed is not in its own way when more is changed`()
        throws
    {
        let ada = try Program("ada", server)
        let (_, kim, lee) = try team(ada)
        let seen = try ada.store.head()
        let all = FetchRequest<Player>()
        kim.goals = 3
        try ada.journal.script = FaultScript(appends: [.inDoubt(.landed)])
        #expect(code { try ada.context.save(ifUnchanged: all, since: seen) } == .inDoubt)
        kim.goals = 4

        let more = try ada.context.save(ifUnchanged: all, since: seen)

        #expect(try more == ada.store.head())
        #expect(more == seen.next.next)
        lee.goals = 1
        let error = #expect(throws: StoreError.self) {
            try ada.context.save(ifUnchanged: all, since: seen)
        }
        #expect(error?.code == .conditionFailed)
    }
}
