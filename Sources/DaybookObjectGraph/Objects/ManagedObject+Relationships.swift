import DaybookObjectModel
import DaybookStopping

extension ManagedObject {
    /// The value of a prototype's relationship: the prototype at the other end, so that a key path can
    /// be followed through it. Records the read.
    func probedDestination(
        _ ordinal: DefinitionOrdinal, _ keyPath: AnyKeyPath
    ) -> [ManagedObject] {
        guard let definition = definition(ordinal),
            case .relationship(_, let destination) = definition.kind
        else {
            stop("A prototype has definitions.")
        }
        KeyPathProbe.recordRead(of: definition.name, keyPath)
        return [ModelBuilder.makePrototype(of: destination)]
    }

    /// The objects a relationship leads to, in order.
    func destinations(ofPropertyAt index: Int) -> [ManagedObject] {
        destinations(of: binding.schema.properties[index])
    }

    func destinations(of property: SchemaProperty) -> [ManagedObject] {
        guard let slot = property.slot else { return members(of: property) }
        realizeIfNeeded()
        trackRead(ofSlot: slot)
        guard let id = value(inSlot: slot).reference else { return [] }
        guard let context = binding.context else { return rememberedDestinations(of: property) }
        let target = GraphID(store: graphID.store, object: id)
        if case .one(let object)? = relations[property.number], object.graphID == target {
            if object.status.standing == .present { return [object] }
            // Somebody else may have brought the record back as another instance.
            if let other = context.registry[target] {
                guard other !== object else { return [] }
            } else if !context.isBack(target) {
                return []
            }
        }
        guard let object = context.destination(target), !object.status.isGone else {
            return []
        }
        relations[property.number] = .one(object)
        return [object]
    }

    /// The members of a to-many relationship, or of a to-one derived from its inverse, in order.
    private func members(of property: SchemaProperty) -> [ManagedObject] {
        guard let context = binding.context else { return rememberedDestinations(of: property) }
        var list = memberList(of: property, context)
        trackRead(of: property)
        if let objects = list.objects { return objects }
        let objects = list.sorted.compactMap {
            context.destination(GraphID(store: graphID.store, object: $0))
        }
        list.objects = objects
        relations[property.number] = .many(list)
        return objects
    }

    /// The objects that a relationship led to when it was last read: all that is known without a
    /// context.
    private func rememberedDestinations(of property: SchemaProperty) -> [ManagedObject] {
        switch relations[property.number] {
        case .one(let object)?: return [object]
        case .many(let list)? where list.objects != nil: return list.objects ?? []
        default:
            reportUnreadable()
            return []
        }
    }

    /// The members with their order, read once.
    func memberList(of property: SchemaProperty, _ context: ManagedObjectContext) -> MemberList {
        if case .many(let list)? = relations[property.number] { return list }
        let list = MemberList(context.loadMembers(of: property, in: self))
        relations[property.number] = .many(list)
        return list
    }

    /// Makes a relationship lead to these objects.
    func setDestinations(_ objects: [ManagedObject], ofPropertyAt index: Int) {
        guard let context = binding.context else { return reportUnreadable() }
        for object in objects {
            require(
                object.binding.context === context,
                "Objects of different contexts cannot be related; pass the objectID instead.")
        }
        let property = binding.schema.properties[index]
        guard !context.refuses(objects, in: property, of: self) else { return }
        if context.isRecordingSuspended {
            showDestinations(objects, of: property)
        } else if property.slot != nil {
            setReference(to: objects.first, of: property)
        } else if property.isStoredToMany {
            setMembers(objects, of: property, context)
        } else {
            setOwners(objects, of: property, context)
        }
    }

    /// Sets a relationship at this end only: what `awakeFromFetch` sets is not an edit.
    private func showDestinations(_ shown: [ManagedObject], of property: SchemaProperty) {
        let objects = shown.filter(\.isEditable)
        if let slot = property.slot {
            values[slot] = objects.first.map { .object($0.graphID.object) } ?? .null
            relations[property.number] = objects.first.map { .one($0) }
        } else {
            let orders = objects.enumerated().map { ($1.graphID.object, Double($0)) }
            relations[property.number] = .many(
                MemberList(Dictionary(orders, uniquingKeysWith: { first, _ in first })))
        }
    }

    /// Sets a stored to-one relationship and makes its inverse follow.
    ///
    /// A deleted object keeps the references it had.
    func setReference(to destination: ManagedObject?, of property: SchemaProperty) {
        guard realizeToChange(), let slot = property.slot, let context = binding.context,
            isEditable, value(inSlot: slot).reference != destination?.graphID.object
        else { return }
        if property.isSelfInverse {
            let partner = destinations(of: property).first
            let rival = destination?.destinations(of: property).first
            for left in [partner, rival] { left?.assignReference(to: nil, of: property, context) }
            destination?.assignReference(to: self, of: property, context)
        } else if let destination, property.isExclusive, let inverse = property.opposite {
            destination.leaveOtherOwners(of: inverse, through: property, except: self, context)
        }
        assignReference(to: destination, of: property, context)
    }

    /// Sets a reference, and only what is derived from it.
    func assignReference(
        to destination: ManagedObject?, of property: SchemaProperty,
        _ context: ManagedObjectContext
    ) {
        guard let slot = property.slot, realizeIfNeeded(), isEditable else { return }
        let old = values[slot]
        let new = destination.map { Value.object($0.graphID.object) } ?? .null
        guard old != new else { return }
        if !status.isOfEvent { context.recordEdit(of: self, slot: slot) }
        values[slot] = new
        relations[property.number] = destination.map { .one($0) }
        context.followReference(of: self, property, from: old.reference, to: new.reference)
    }

    /// Where only one owner is allowed, takes this object away from any other.
    func leaveOtherOwners(
        of inverse: PropertyNumber, through stored: SchemaProperty, except owner: ManagedObject,
        _ context: ManagedObjectContext
    ) {
        guard let derived = binding.schema.property(inverse) else { return }
        for other in memberList(of: derived, context).sorted where other != owner.graphID.object {
            let object = context.object(GraphID(store: graphID.store, object: other))
            object.disown(self, through: stored.number, context)
        }
    }

    // MARK: - Stored to-many

    private func setMembers(
        _ objects: [ManagedObject], of property: SchemaProperty, _ context: ManagedObjectContext
    ) {
        let current = memberList(of: property, context)
        let orders = current.orders
        let wanted = Set(objects.map(\.graphID.object))
        for id in current.sorted where !wanted.contains(id) {
            let object = context.object(GraphID(store: graphID.store, object: id))
            removeMember(object, of: property, context)
        }
        guard property.relationship?.isOrdered == true else {
            for object in objects where orders[object.graphID.object] == nil {
                addMember(object, order: 0, of: property, context)
            }
            return
        }
        // An object that is given twice stands where it is given first, as in an ordered set.
        var given: Set<ObjectID> = []
        let members = objects.filter { given.insert($0.graphID.object).inserted }
        let positions = MemberOrder.positions(
            for: members.map { orders[$0.graphID.object] })
        for (object, position) in zip(members, positions) {
            let id = object.graphID.object
            guard orders[id] != position else { continue }
            if orders[id] == nil {
                addMember(object, order: position, of: property, context)
            } else {
                setMembership(of: id, order: position, in: property, context)
            }
        }
    }

    func addMember(
        _ object: ManagedObject, order: Double, of property: SchemaProperty,
        _ context: ManagedObjectContext
    ) {
        if property.isExclusive, let inverse = property.opposite {
            object.leaveOtherOwners(of: inverse, through: property, except: self, context)
        }
        setMembership(of: object.graphID.object, order: order, in: property, context)
    }

    func removeMember(
        _ object: ManagedObject, of property: SchemaProperty, _ context: ManagedObjectContext
    ) {
        setMembership(of: object.graphID.object, order: nil, in: property, context)
    }

    private func setMembership(
        of member: ObjectID, order: Double?, in property: SchemaProperty,
        _ context: ManagedObjectContext
    ) {
        let old = memberList(of: property, context).order(of: member)
        guard old != order, isEditable else { return }
        context.recordMembership(of: self, property, member, from: old, to: order)
        context.followMembership(of: self, property, member, from: old, to: order)
        guard property.isSelfInverse else { return }
        // A relationship that is its own inverse is stored at both ends.
        let other = context.object(GraphID(store: graphID.store, object: member))
        other.setMembership(of: graphID.object, order: order, in: property, context)
    }

    // MARK: - Derived

    private func setOwners(
        _ objects: [ManagedObject], of property: SchemaProperty, _ context: ManagedObjectContext
    ) {
        guard let inverse = property.end?.inverse else { return }
        let wanted = property.relationship?.isToMany == true ? objects : Array(objects.prefix(1))
        let current = memberList(of: property, context)
        let orders = current.orders
        let wantedIDs = Set(wanted.map(\.graphID.object))
        for id in current.sorted where !wantedIDs.contains(id) {
            let object = context.object(GraphID(store: graphID.store, object: id))
            object.disown(self, through: inverse, context)
        }
        for object in wanted where orders[object.graphID.object] == nil {
            object.own(self, through: inverse, context)
        }
        // An owner may already belong to this object without being in the list read earlier.
        relations[property.number] = .many(
            MemberList(Dictionary(uniqueKeysWithValues: wantedIDs.map { ($0, 0) })))
    }

    private func own(
        _ object: ManagedObject, through number: PropertyNumber, _ context: ManagedObjectContext
    ) {
        guard let property = binding.schema.property(number) else { return }
        if property.slot != nil {
            setReference(to: object, of: property)
        } else {
            // It may already be a member if the other end was read before it became one.
            let list = memberList(of: property, context)
            guard list.order(of: object.graphID.object) == nil else { return }
            let isOrdered = property.relationship?.isOrdered == true
            let last = isOrdered ? list.orders.values.max() ?? 0 : -1
            addMember(object, order: last + 1, of: property, context)
        }
    }

    /// Takes an object out of a relationship. A reference that leads to another one stays: the list
    /// that shows this owner may have been read before, or after, the reference was.
    func disown(
        _ object: ManagedObject, through number: PropertyNumber, _ context: ManagedObjectContext
    ) {
        guard let property = binding.schema.property(number) else { return }
        if let slot = property.slot {
            guard realizeIfNeeded(), value(inSlot: slot).reference == object.graphID.object
            else { return }
            setReference(to: nil, of: property)
        } else {
            removeMember(object, of: property, context)
        }
    }
}
