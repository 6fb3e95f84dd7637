extension FilterPlan {
    /// The plan and about how many objects it looks at, in one line for people.
    ///
    /// - Parameters:
    ///   - schema: The model.
    ///   - obstacles: Why indexes that might serve do not, each as a clause.
    /// - Returns: The line, without a full stop.
    package func explanation(in schema: Schema, obstacles: [String] = []) -> String {
        let present = present(in: schema, obstacles)
        return asksForPast
            ? "\(present); the past of each object is read from its versions" : present
    }

    private func present(in schema: Schema, _ obstacles: [String]) -> String {
        switch access {
        case .objects: return way(in: schema)
        case .scan:
            guard let other = passedOver.first else {
                let reasons = obstacles.isEmpty ? ["no index serves the filter"] : obstacles
                return "all objects are read: " + reasons.joined(separator: "; ")
            }
            return "all objects are read: of \(total) about \(other.count) would be looked up by "
                + other.way(in: schema)
        case .union(let plans) where plans.isEmpty:
            return "nothing is read: no object can match"
        default:
            let size = "about \(count) of \(total) objects"
            return ([way(in: schema), size] + obstacles).joined(separator: "; ")
        }
    }

    private func way(in schema: Schema) -> String {
        let reason = chosen.map { " for \($0.text(in: schema))" } ?? ""
        return switch access {
        case .objects(let objects):
            objects.isEmpty
                ? "nothing is read: no object can match\(reason)"
                : "\(objects.count) named object\(objects.count == 1 ? "" : "s")\(reason)"
        case .index(let property, let ranges):
            "index of '\(property.name)', \(ranges.count) range\(ranges.count == 1 ? "" : "s")"
                + reason
        case .compound(let compound):
            "index of \(compound.index.text), \(compound.ranges.count) "
                + "range\(compound.ranges.count == 1 ? "" : "s")" + reason
        case .referrers(let property, _): "references through '\(property.name)'\(reason)"
        case .join(let property, let condition):
            "references through '\(property.name)' of the objects for \(condition.text(in: schema)), or "
                + "all objects where those are many\(reason)"
        case .changes:
            "the objects in the entries since then\(reason), or all objects where these are many"
        case .changeIndex(let change, let isByAuthor):
            "index of the changes of '\(change.property.name)'"
                + (isByAuthor ? ", in the author's entries" : "") + reason
        case .everIndex(let property, let ranges):
            "index of '\(property.name)' and of its former values, \(ranges.count) "
                + "range\(ranges.count == 1 ? "" : "s")" + reason
        case .union(let plans): plans.map { $0.way(in: schema) }.joined(separator: ", or ")
        case .intersection(let plans):
            plans.map { $0.way(in: schema) }.joined(separator: ", and ")
        case .scan: "all objects"
        }
    }
}

extension Filter {
    /// The attributes by whose index objects can be found for the condition, or those that lead to them.
    package var servingIndexes: [SchemaProperty] {
        switch self {
        case .and(let filters), .or(let filters): return filters.flatMap(\.servingIndexes)
        default:
            return FilterAccess.all(for: self).flatMap { access -> [SchemaProperty] in
                switch access {
                case .index(let property, _), .everIndex(let property, _): [property]
                case .join(_, let condition): condition.servingIndexes
                default: []
                }
            }
        }
    }
}

extension FilterPlan {
    /// The indexes over several properties by which objects are found.
    package var compoundIndexes: [SchemaIndex] {
        switch access {
        case .compound(let compound): [compound.index]
        case .union(let plans), .intersection(let plans): plans.flatMap(\.compoundIndexes)
        default: []
        }
    }
}

extension Query {
    /// The indexes over several properties of which the first is in a condition.
    package func servingCompoundIndexes(in schema: Schema) -> [SchemaIndex] {
        let conditions = filter.conjuncts.keyConditions
        return compoundIndexes(in: schema).filter { CompoundAccess($0, conditions) != nil }
    }
}
