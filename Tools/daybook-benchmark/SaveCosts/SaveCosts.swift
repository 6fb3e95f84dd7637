import Foundation

/// Makes the same saves with Daybook and SQLite, with and without laws and an index, in turns.
struct SaveCosts {
    private let sample: OrderSample
    private let large: OrderSample
    private let turns: Int
    private let contenders: [String]

    init(_ options: Options) {
        sample = OrderSample(scaleName: options.scale.name)
        large = .large(scaleName: options.scale.name)
        turns = max(options.rounds, 5)
        contenders = Questions.contenders(options)
    }

    /// Adds rates, and ratios to saves without, to a report.
    ///
    /// - Parameter report: The report.
    /// - Throws: ``WrongResult`` when the stores differ, and errors of the libraries.
    func run(addingTo report: inout Report) throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        var samples: [SaveCost: [[Double]]] = [:]
        let stores = try contenders.map { name in
            try SaveCost.allCases.map { cost -> any CostlySaves in
                if name == SQLiteOrders.name {
                    return try SQLiteOrders(in: folder.url, sample, cost)
                }
                return try DaybookOrders(in: folder.url, sample, cost)
            }
        }
        for cost in SaveCost.allCases {
            samples[cost] = [[Double]](repeating: [], count: contenders.count)
        }
        // One turn before the others, after which the file is in memory.
        for turn in 0...turns {
            for step in 0..<(contenders.count * SaveCost.allCases.count) {
                let place = (step + turn) % (contenders.count * SaveCost.allCases.count)
                let contender = place % contenders.count
                let cost = SaveCost.allCases[place / contenders.count]
                let store = stores[contender][place / contenders.count]
                let seconds = try Stopwatch.seconds {
                    for number in 0..<sample.saves {
                        try store.save(turn * sample.saves + number + 1)
                    }
                }
                guard turn > 0 else { continue }
                let changes = Double(sample.saves * OrderSample.saveLength)
                samples[cost]?[contender].append(changes / seconds)
            }
        }
        try check(stores.flatMap(\.self))
        add(samples, to: &report)
        try addLarge(to: &report)
    }

    /// Durable saves of a few objects among many, which lie on as many pages.
    private func addLarge(to report: inout Report) throws {
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let stores = try contenders.map { name -> any CostlySaves in
            if name == SQLiteOrders.name {
                return try SQLiteOrders(in: folder.url, large, .nothing)
            }
            return try DaybookOrders(in: folder.url, large, .nothing)
        }
        var samples = [[Double]](repeating: [], count: stores.count)
        for turn in 0...turns {
            for step in stores.indices {
                let index = (step + turn) % stores.count
                let seconds = try Stopwatch.seconds {
                    for number in 0..<large.saves {
                        try stores[index].save(turn * large.saves + number + 1)
                    }
                }
                if turn > 0 { samples[index].append(Double(large.saves) / seconds) }
            }
        }
        let sums = try stores.map { try $0.sum() }
        for (store, sum) in zip(stores, sums) where sum != sums[0] {
            throw WrongResult(type(of: store).name, "the sum", expected: sums[0], found: sum)
        }
        for store in stores { try store.close() }
        report.add(
            "d3",
            "durable saves of \(OrderSample.saveLength) updates all over \(large.count.grouped) "
                + "objects",
            .perSecond, nil, zip(contenders, samples).map { ($0, $1) })
    }

    private func check(_ stores: [any CostlySaves]) throws {
        let sums = try stores.map { try $0.sum() }
        for (store, sum) in zip(stores, sums) where sum != sums[0] {
            throw WrongResult(type(of: store).name, "the sum", expected: sums[0], found: sum)
        }
        let refusals = try stores.count { try $0.refusesFalls() }
        guard refusals == contenders.count else {
            throw WrongResult(
                "\(contenders)", "the stores with a law", expected: contenders.count,
                found: refusals)
        }
        for store in stores { try store.close() }
    }

    private func add(_ samples: [SaveCost: [[Double]]], to report: inout Report) {
        let plain = (samples[.nothing] ?? []).map(Report.Series.median)
        for cost in [SaveCost.laws, .index] {
            let rates = samples[cost] ?? []
            report.add(
                cost.letters.rate,
                "\(OrderSample.saveLength) of \(sample.count.grouped) objects updated a save, "
                    + cost.title, .perSecond, nil, zip(contenders, rates).map { ($0, $1) })
            report.add(
                cost.letters.ratio, "the time of (\(cost.letters.rate)) against saves without",
                .times, nil,
                contenders.indices.map {
                    (contenders[$0], [plain[$0] / Report.Series.median(rates[$0])])
                })
        }
    }
}
