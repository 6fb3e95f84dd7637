// A method for each number of key paths and aggregates; `select(columns:aggregates:)` takes any number. That one has
// parameter packs, which the compiler does not look into while it reads a closure in the same statement.

extension FetchRequest {
    /// One aggregate.
    public func select<R1: Sendable>(
        _ r1: Aggregate<Object, R1>
    ) -> Selection<Object, R1> {
        Selection(self, [.init(r1)]) { try $0.take(r1) }
    }

    /// Two aggregates.
    public func select<R1: Sendable, R2: Sendable>(
        _ r1: Aggregate<Object, R1>, _ r2: Aggregate<Object, R2>
    ) -> Selection<Object, (R1, R2)> {
        Selection(self, [.init(r1), .init(r2)]) { (try $0.take(r1), try $0.take(r2)) }
    }

    /// Three aggregates.
    public func select<R1: Sendable, R2: Sendable, R3: Sendable>(
        _ r1: Aggregate<Object, R1>, _ r2: Aggregate<Object, R2>, _ r3: Aggregate<Object, R3>
    ) -> Selection<Object, (R1, R2, R3)> {
        Selection(self, [.init(r1), .init(r2), .init(r3)]) {
            (try $0.take(r1), try $0.take(r2), try $0.take(r3))
        }
    }

    /// Four aggregates.
    public func select<R1: Sendable, R2: Sendable, R3: Sendable, R4: Sendable>(
        _ r1: Aggregate<Object, R1>, _ r2: Aggregate<Object, R2>, _ r3: Aggregate<Object, R3>,
        _ r4: Aggregate<Object, R4>
    ) -> Selection<Object, (R1, R2, R3, R4)> {
        Selection(self, [.init(r1), .init(r2), .init(r3), .init(r4)]) {
            (try $0.take(r1), try $0.take(r2), try $0.take(r3), try $0.take(r4))
        }
    }

    /// Five aggregates.
    public func select<R1: Sendable, R2: Sendable, R3: Sendable, R4: Sendable, R5: Sendable>(
        _ r1: Aggregate<Object, R1>, _ r2: Aggregate<Object, R2>, _ r3: Aggregate<Object, R3>,
        _ r4: Aggregate<Object, R4>, _ r5: Aggregate<Object, R5>
    ) -> Selection<Object, (R1, R2, R3, R4, R5)> {
        Selection(self, [.init(r1), .init(r2), .init(r3), .init(r4), .init(r5)]) {
            (try $0.take(r1), try $0.take(r2), try $0.take(r3), try $0.take(r4), try $0.take(r5))
        }
    }

    /// One column.
    public func select<K1: SelectableValue>(
        _ k1: KeyPath<Object, K1>
    ) -> Selection<Object, K1> {
        Selection(self, [.init(k1)]) { try $0.take() }
    }

    /// One column and one aggregate.
    public func select<K1: SelectableValue, R1: Sendable>(
        _ k1: KeyPath<Object, K1>, _ r1: Aggregate<Object, R1>
    ) -> Selection<Object, (K1, R1)> {
        Selection(self, [.init(k1), .init(r1)]) { (try $0.take(), try $0.take(r1)) }
    }

    /// One column and two aggregates.
    public func select<K1: SelectableValue, R1: Sendable, R2: Sendable>(
        _ k1: KeyPath<Object, K1>, _ r1: Aggregate<Object, R1>, _ r2: Aggregate<Object, R2>
    ) -> Selection<Object, (K1, R1, R2)> {
        Selection(self, [.init(k1), .init(r1), .init(r2)]) {
            (try $0.take(), try $0.take(r1), try $0.take(r2))
        }
    }

    /// One column and three aggregates.
    public func select<K1: SelectableValue, R1: Sendable, R2: Sendable, R3: Sendable>(
        _ k1: KeyPath<Object, K1>, _ r1: Aggregate<Object, R1>, _ r2: Aggregate<Object, R2>,
        _ r3: Aggregate<Object, R3>
    ) -> Selection<Object, (K1, R1, R2, R3)> {
        Selection(self, [.init(k1), .init(r1), .init(r2), .init(r3)]) {
            (try $0.take(), try $0.take(r1), try $0.take(r2), try $0.take(r3))
        }
    }

    /// One column and four aggregates.
    public func select<K1: SelectableValue, R1: Sendable, R2: Sendable, R3: Sendable, R4: Sendable>(
        _ k1: KeyPath<Object, K1>, _ r1: Aggregate<Object, R1>, _ r2: Aggregate<Object, R2>,
        _ r3: Aggregate<Object, R3>, _ r4: Aggregate<Object, R4>
    ) -> Selection<Object, (K1, R1, R2, R3, R4)> {
        Selection(self, [.init(k1), .init(r1), .init(r2), .init(r3), .init(r4)]) {
            (try $0.take(), try $0.take(r1), try $0.take(r2), try $0.take(r3), try $0.take(r4))
        }
    }

    /// One column and five aggregates.
    public func select<
        K1: SelectableValue, R1: Sendable, R2: Sendable, R3: Sendable, R4: Sendable, R5: Sendable
    >(
        _ k1: KeyPath<Object, K1>, _ r1: Aggregate<Object, R1>, _ r2: Aggregate<Object, R2>,
        _ r3: Aggregate<Object, R3>, _ r4: Aggregate<Object, R4>, _ r5: Aggregate<Object, R5>
    ) -> Selection<Object, (K1, R1, R2, R3, R4, R5)> {
        Selection(self, [.init(k1), .init(r1), .init(r2), .init(r3), .init(r4), .init(r5)]) {
            (
                try $0.take(), try $0.take(r1), try $0.take(r2), try $0.take(r3), try $0.take(r4),
                try $0.take(r5)
            )
        }
    }

    /// Two columns.
    public func select<K1: SelectableValue, K2: SelectableValue>(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>
    ) -> Selection<Object, (K1, K2)> {
        Selection(self, [.init(k1), .init(k2)]) { (try $0.take(), try $0.take()) }
    }

    /// Two columns and one aggregate.
    public func select<K1: SelectableValue, K2: SelectableValue, R1: Sendable>(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>, _ r1: Aggregate<Object, R1>
    ) -> Selection<Object, (K1, K2, R1)> {
        Selection(self, [.init(k1), .init(k2), .init(r1)]) {
            (try $0.take(), try $0.take(), try $0.take(r1))
        }
    }

    /// Two columns and two aggregates.
    public func select<K1: SelectableValue, K2: SelectableValue, R1: Sendable, R2: Sendable>(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>, _ r1: Aggregate<Object, R1>,
        _ r2: Aggregate<Object, R2>
    ) -> Selection<Object, (K1, K2, R1, R2)> {
        Selection(self, [.init(k1), .init(k2), .init(r1), .init(r2)]) {
            (try $0.take(), try $0.take(), try $0.take(r1), try $0.take(r2))
        }
    }

    /// Two columns and three aggregates.
    public func select<
        K1: SelectableValue, K2: SelectableValue, R1: Sendable, R2: Sendable, R3: Sendable
    >(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>, _ r1: Aggregate<Object, R1>,
        _ r2: Aggregate<Object, R2>, _ r3: Aggregate<Object, R3>
    ) -> Selection<Object, (K1, K2, R1, R2, R3)> {
        Selection(self, [.init(k1), .init(k2), .init(r1), .init(r2), .init(r3)]) {
            (try $0.take(), try $0.take(), try $0.take(r1), try $0.take(r2), try $0.take(r3))
        }
    }

    /// Two columns and four aggregates.
    public func select<
        K1: SelectableValue, K2: SelectableValue, R1: Sendable, R2: Sendable, R3: Sendable,
        R4: Sendable
    >(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>, _ r1: Aggregate<Object, R1>,
        _ r2: Aggregate<Object, R2>, _ r3: Aggregate<Object, R3>, _ r4: Aggregate<Object, R4>
    ) -> Selection<Object, (K1, K2, R1, R2, R3, R4)> {
        Selection(self, [.init(k1), .init(k2), .init(r1), .init(r2), .init(r3), .init(r4)]) {
            (
                try $0.take(), try $0.take(), try $0.take(r1), try $0.take(r2), try $0.take(r3),
                try $0.take(r4)
            )
        }
    }

    /// Two columns and five aggregates.
    public func select<
        K1: SelectableValue, K2: SelectableValue, R1: Sendable, R2: Sendable, R3: Sendable,
        R4: Sendable, R5: Sendable
    >(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>, _ r1: Aggregate<Object, R1>,
        _ r2: Aggregate<Object, R2>, _ r3: Aggregate<Object, R3>, _ r4: Aggregate<Object, R4>,
        _ r5: Aggregate<Object, R5>
    ) -> Selection<Object, (K1, K2, R1, R2, R3, R4, R5)> {
        Selection(
            self, [.init(k1), .init(k2), .init(r1), .init(r2), .init(r3), .init(r4), .init(r5)]
        ) {
            (
                try $0.take(), try $0.take(), try $0.take(r1), try $0.take(r2), try $0.take(r3),
                try $0.take(r4), try $0.take(r5)
            )
        }
    }

    /// Three columns.
    public func select<K1: SelectableValue, K2: SelectableValue, K3: SelectableValue>(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>, _ k3: KeyPath<Object, K3>
    ) -> Selection<Object, (K1, K2, K3)> {
        Selection(self, [.init(k1), .init(k2), .init(k3)]) {
            (try $0.take(), try $0.take(), try $0.take())
        }
    }

    /// Three columns and one aggregate.
    public func select<K1: SelectableValue, K2: SelectableValue, K3: SelectableValue, R1: Sendable>(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>, _ k3: KeyPath<Object, K3>,
        _ r1: Aggregate<Object, R1>
    ) -> Selection<Object, (K1, K2, K3, R1)> {
        Selection(self, [.init(k1), .init(k2), .init(k3), .init(r1)]) {
            (try $0.take(), try $0.take(), try $0.take(), try $0.take(r1))
        }
    }

    /// Three columns and two aggregates.
    public func select<
        K1: SelectableValue, K2: SelectableValue, K3: SelectableValue, R1: Sendable, R2: Sendable
    >(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>, _ k3: KeyPath<Object, K3>,
        _ r1: Aggregate<Object, R1>, _ r2: Aggregate<Object, R2>
    ) -> Selection<Object, (K1, K2, K3, R1, R2)> {
        Selection(self, [.init(k1), .init(k2), .init(k3), .init(r1), .init(r2)]) {
            (try $0.take(), try $0.take(), try $0.take(), try $0.take(r1), try $0.take(r2))
        }
    }

    /// Three columns and three aggregates.
    public func select<
        K1: SelectableValue, K2: SelectableValue, K3: SelectableValue, R1: Sendable, R2: Sendable,
        R3: Sendable
    >(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>, _ k3: KeyPath<Object, K3>,
        _ r1: Aggregate<Object, R1>, _ r2: Aggregate<Object, R2>, _ r3: Aggregate<Object, R3>
    ) -> Selection<Object, (K1, K2, K3, R1, R2, R3)> {
        Selection(self, [.init(k1), .init(k2), .init(k3), .init(r1), .init(r2), .init(r3)]) {
            (
                try $0.take(), try $0.take(), try $0.take(), try $0.take(r1), try $0.take(r2),
                try $0.take(r3)
            )
        }
    }

    /// Three columns and four aggregates.
    public func select<
        K1: SelectableValue, K2: SelectableValue, K3: SelectableValue, R1: Sendable, R2: Sendable,
        R3: Sendable, R4: Sendable
    >(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>, _ k3: KeyPath<Object, K3>,
        _ r1: Aggregate<Object, R1>, _ r2: Aggregate<Object, R2>, _ r3: Aggregate<Object, R3>,
        _ r4: Aggregate<Object, R4>
    ) -> Selection<Object, (K1, K2, K3, R1, R2, R3, R4)> {
        Selection(
            self, [.init(k1), .init(k2), .init(k3), .init(r1), .init(r2), .init(r3), .init(r4)]
        ) {
            (
                try $0.take(), try $0.take(), try $0.take(), try $0.take(r1), try $0.take(r2),
                try $0.take(r3), try $0.take(r4)
            )
        }
    }

    /// Three columns and five aggregates.
    public func select<
        K1: SelectableValue, K2: SelectableValue, K3: SelectableValue, R1: Sendable, R2: Sendable,
        R3: Sendable, R4: Sendable, R5: Sendable
    >(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>, _ k3: KeyPath<Object, K3>,
        _ r1: Aggregate<Object, R1>, _ r2: Aggregate<Object, R2>, _ r3: Aggregate<Object, R3>,
        _ r4: Aggregate<Object, R4>, _ r5: Aggregate<Object, R5>
    ) -> Selection<Object, (K1, K2, K3, R1, R2, R3, R4, R5)> {
        Selection(
            self,
            [
                .init(k1), .init(k2), .init(k3), .init(r1), .init(r2), .init(r3), .init(r4),
                .init(r5),
            ]
        ) {
            (
                try $0.take(), try $0.take(), try $0.take(), try $0.take(r1), try $0.take(r2),
                try $0.take(r3), try $0.take(r4), try $0.take(r5)
            )
        }
    }

    /// Four columns.
    public func select<
        K1: SelectableValue, K2: SelectableValue, K3: SelectableValue, K4: SelectableValue
    >(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>, _ k3: KeyPath<Object, K3>,
        _ k4: KeyPath<Object, K4>
    ) -> Selection<Object, (K1, K2, K3, K4)> {
        Selection(self, [.init(k1), .init(k2), .init(k3), .init(k4)]) {
            (try $0.take(), try $0.take(), try $0.take(), try $0.take())
        }
    }

    /// Four columns and one aggregate.
    public func select<
        K1: SelectableValue, K2: SelectableValue, K3: SelectableValue, K4: SelectableValue,
        R1: Sendable
    >(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>, _ k3: KeyPath<Object, K3>,
        _ k4: KeyPath<Object, K4>, _ r1: Aggregate<Object, R1>
    ) -> Selection<Object, (K1, K2, K3, K4, R1)> {
        Selection(self, [.init(k1), .init(k2), .init(k3), .init(k4), .init(r1)]) {
            (try $0.take(), try $0.take(), try $0.take(), try $0.take(), try $0.take(r1))
        }
    }

    /// Four columns and two aggregates.
    public func select<
        K1: SelectableValue, K2: SelectableValue, K3: SelectableValue, K4: SelectableValue,
        R1: Sendable, R2: Sendable
    >(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>, _ k3: KeyPath<Object, K3>,
        _ k4: KeyPath<Object, K4>, _ r1: Aggregate<Object, R1>, _ r2: Aggregate<Object, R2>
    ) -> Selection<Object, (K1, K2, K3, K4, R1, R2)> {
        Selection(self, [.init(k1), .init(k2), .init(k3), .init(k4), .init(r1), .init(r2)]) {
            (
                try $0.take(), try $0.take(), try $0.take(), try $0.take(), try $0.take(r1),
                try $0.take(r2)
            )
        }
    }

    /// Four columns and three aggregates.
    public func select<
        K1: SelectableValue, K2: SelectableValue, K3: SelectableValue, K4: SelectableValue,
        R1: Sendable, R2: Sendable, R3: Sendable
    >(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>, _ k3: KeyPath<Object, K3>,
        _ k4: KeyPath<Object, K4>, _ r1: Aggregate<Object, R1>, _ r2: Aggregate<Object, R2>,
        _ r3: Aggregate<Object, R3>
    ) -> Selection<Object, (K1, K2, K3, K4, R1, R2, R3)> {
        Selection(
            self, [.init(k1), .init(k2), .init(k3), .init(k4), .init(r1), .init(r2), .init(r3)]
        ) {
            (
                try $0.take(), try $0.take(), try $0.take(), try $0.take(), try $0.take(r1),
                try $0.take(r2), try $0.take(r3)
            )
        }
    }

    /// Four columns and four aggregates.
    public func select<
        K1: SelectableValue, K2: SelectableValue, K3: SelectableValue, K4: SelectableValue,
        R1: Sendable, R2: Sendable, R3: Sendable, R4: Sendable
    >(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>, _ k3: KeyPath<Object, K3>,
        _ k4: KeyPath<Object, K4>, _ r1: Aggregate<Object, R1>, _ r2: Aggregate<Object, R2>,
        _ r3: Aggregate<Object, R3>, _ r4: Aggregate<Object, R4>
    ) -> Selection<Object, (K1, K2, K3, K4, R1, R2, R3, R4)> {
        Selection(
            self,
            [
                .init(k1), .init(k2), .init(k3), .init(k4), .init(r1), .init(r2), .init(r3),
                .init(r4),
            ]
        ) {
            (
                try $0.take(), try $0.take(), try $0.take(), try $0.take(), try $0.take(r1),
                try $0.take(r2), try $0.take(r3), try $0.take(r4)
            )
        }
    }

    /// Four columns and five aggregates.
    public func select<
        K1: SelectableValue, K2: SelectableValue, K3: SelectableValue, K4: SelectableValue,
        R1: Sendable, R2: Sendable, R3: Sendable, R4: Sendable, R5: Sendable
    >(
        _ k1: KeyPath<Object, K1>, _ k2: KeyPath<Object, K2>, _ k3: KeyPath<Object, K3>,
        _ k4: KeyPath<Object, K4>, _ r1: Aggregate<Object, R1>, _ r2: Aggregate<Object, R2>,
        _ r3: Aggregate<Object, R3>, _ r4: Aggregate<Object, R4>, _ r5: Aggregate<Object, R5>
    ) -> Selection<Object, (K1, K2, K3, K4, R1, R2, R3, R4, R5)> {
        Selection(
            self,
            [
                .init(k1), .init(k2), .init(k3), .init(k4), .init(r1), .init(r2), .init(r3),
                .init(r4), .init(r5),
            ]
        ) {
            (
                try $0.take(), try $0.take(), try $0.take(), try $0.take(), try $0.take(r1),
                try $0.take(r2), try $0.take(r3), try $0.take(r4), try $0.take(r5)
            )
        }
    }
}
