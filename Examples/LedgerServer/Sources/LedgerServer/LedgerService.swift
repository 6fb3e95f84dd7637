import Daybook
import Foundation

/// The ledger as clients see it:
///
/// | request | answer |
/// |---|---|
/// | `GET /accounts?at=MOMENT` | what each account has; as of an entry's number or a tag, if one is given |
/// | `GET /postings?account=NAME&size=20&after=CURSOR` | a page of postings, and the cursor of the next |
/// | `POST /payments` | books a payment |
/// | `GET /changes?since=N` | each entry after N with postings, as soon as it is saved, by whatever program |
///
/// Each request has a context of its own, which is dropped with it: contexts are cheap, and whatever was refused is
/// gone. It believes its clients who they are; a server for others would take the author from a login.
final class LedgerService: Sendable {
    private let container: PersistentContainer
    private let store: PersistentStore

    init(_ container: PersistentContainer) throws {
        self.container = container
        guard let store = container.persistentStoreCoordinator.persistentStores.first else {
            throw ServerError(description: "There is no ledger.")
        }
        self.store = store
    }

    func answer(_ request: Request) async -> Response {
        do {
            try refuseStrangers(request)
            switch request.path {
            case "/accounts":
                try require("GET", of: request)
                return try .json(await balances(at: request.query["at"]))
            case "/postings":
                try require("GET", of: request)
                return try .json(await postings(request.query))
            case "/payments":
                try require("POST", of: request)
                return try .json(await book(request), status: 201)
            case "/changes":
                try require("GET", of: request)
                return Response(body: .events(try changes(request)))
            default:
                throw Refusal(status: 404, reason: "There is no such thing here.")
            }
        } catch {
            return refusal(for: error).response
        }
    }

    // MARK: - Reading

    private struct Balance: Encodable {
        let account: String
        let balance: Decimal
        let postings: Int
    }

    /// One question for all accounts, answered without making an object.
    private func balances(at moment: String?) async throws -> [Balance] {
        let context =
            if let moment {
                try container.context(
                    at: UInt64(moment).map { .sequence(SequenceNumber($0)) } ?? .tag(moment))
            } else {
                container.newBackgroundContext()
            }
        return try await context.perform {
            let byAccount = FetchRequest<Posting>()
                .select(\.account?.name, .sum(\.amount), .count)
                .grouped(by: \.account?.name)
            return try context.fetch(byAccount).map { name, sum, count in
                Balance(account: name ?? "none", balance: sum, postings: count)
            }
        }
    }

    private struct Postings: Encodable {
        let postings: [ObjectSnapshot<Posting>]
        let next: PageCursor?
    }

    /// A page goes on behind an object, whatever has been inserted before it meanwhile, and without counting those
    /// before it.
    private func postings(_ query: [String: String]) async throws -> Postings {
        guard let size = Int(query["size"] ?? "20"), (1...100).contains(size) else {
            throw Refusal(status: 400, reason: "A page has 1 to 100 postings.")
        }
        let cursor = try query["after"].map { try PageCursor(parsing: $0) }
        return try await container.performBackgroundTask { context in
            var request = FetchRequest<Posting>()
            if let name = query["account"] {
                guard try context.count(FetchRequest<Account>(where: \.name == name)) > 0 else {
                    throw Refusal(status: 404, reason: "There is no account '\(name)'.")
                }
                request = FetchRequest(where: \.account?.name == name)
            }
            let page = try context.fetch(request.page(after: cursor, size: size))
            return Postings(postings: try page.objects.map { try $0.snapshot() }, next: page.next)
        }
    }

    // MARK: - Booking

    private func book(_ request: Request) async throws -> Receipt {
        // A page of a browser cannot send this type to another address without asking first.
        let type = request.headers["content-type"]?.split(separator: ";").first
        guard type?.trimmingCharacters(in: .whitespaces).lowercased() == "application/json" else {
            throw Refusal(status: 415, reason: "A payment is 'application/json'.")
        }
        let payment = try JSONDecoder().decode(Payment.self, from: request.body)
        try payment.check()
        // Kept with the entry, so that what a client complains of can be found.
        let info = request.headers["request-id"].map { ["request": $0] } ?? [:]
        return try await Clerk(in: container, store).book(payment, info: info)
    }

    // MARK: - What is new

    private struct Change: Encodable {
        let author: String?
        let note: String?
        let info: [String: String]
        /// How much more each posting that it changes is than before, or less.
        let amounts: [Decimal]
    }

    /// Each entry as an event whose `id` is its number. A client that was cut off says the last that it has got, as
    /// browsers do by themselves, and goes on there: it misses none.
    private func changes(
        _ request: Request
    ) throws -> any AsyncSequence<String, any Error> & Sendable {
        let since = request.headers["last-event-id"] ?? request.query["since"]
        let moment = since.map { UInt64($0).map { Moment.sequence(SequenceNumber($0)) } } ?? .head
        guard let moment, let count = Int(request.query["count"] ?? "\(Int.max)"), count > 0 else {
            throw Refusal(status: 400, reason: "'since' and 'count' are numbers.")
        }
        return try store.changes(since: moment, where: .all.of(Posting.self)).prefix(count).map {
            let change = Change(
                author: $0.author, note: $0.note, info: $0.info,
                amounts: $0.changes.map {
                    ($0.new(\Posting.amount) ?? 0) - ($0.old(\Posting.amount) ?? 0)
                })
            let data = String(decoding: try Response.encoded(change), as: UTF8.self)
            return "id: \($0.sequence)\ndata: \(data)\n\n"
        }
    }

    // MARK: - Refusing

    /// Refuses what a browser sends for a page of somebody else's: such a page is at another host, even where that
    /// host's name has been made to lead here.
    private func refuseStrangers(_ request: Request) throws {
        let host = request.headers["host"]?.split(separator: ":").first
        guard host == "127.0.0.1" || host == "localhost" else {
            throw Refusal(status: 421, reason: "This is not the server of that name.")
        }
        guard request.headers["origin"] == nil else {
            throw Refusal(status: 403, reason: "This serves programs, and no pages.")
        }
    }

    private func require(_ method: String, of request: Request) throws {
        guard request.method != method else { return }
        throw Refusal(
            status: 405, reason: "Use \(method) here.", headers: ["Allow": method])
    }

    /// What a client is told of an error.
    private func refusal(for error: any Error) -> Refusal {
        switch error {
        case let error as Refusal: return error
        case let error as StoreError:
            switch error.code {
            case .conflict, .conditionFailed: return Refusal(status: 409, reason: error.message)
            case .validation, .duplicate, .law, .attribution, .information:
                return Refusal(status: 422, reason: error.message)
            case .noSuchEntry, .noSuchTag, .noSuchObject, .objectDeleted:
                return Refusal(status: 404, reason: error.message)
            case .busy: return Refusal(status: 503, reason: error.message)
            default: break
            }
        case let error as QueryError: return Refusal(status: 400, reason: error.message)
        case is DecodingError:
            return Refusal(
                status: 400, reason: "A payment has 'by', 'from', 'to', 'amount' and 'text'.")
        default: break
        }
        report(error)
        return Refusal(status: 500, reason: "Something is wrong here.")
    }
}
