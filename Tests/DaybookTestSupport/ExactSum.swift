extension Sequence<Double> {
    /// The sum of finite numbers, rounded once, as `math.fsum` of Python works it out: by numbers that do not
    /// overlap and add up to it (Shewchuk, 1997). It must not overflow on the way.
    public var exactSum: Double {
        var parts: [Double] = []
        for number in self {
            var rest = number
            var kept: [Double] = []
            for part in parts {
                let (large, small) = rest.magnitude < part.magnitude ? (part, rest) : (rest, part)
                let sum = large + small
                let lost = small - (sum - large)
                if lost != 0 { kept.append(lost) }
                rest = sum
            }
            parts = kept + [rest]
        }
        guard var sum = parts.popLast() else { return 0 }
        var lost = 0.0
        while lost == 0, let part = parts.popLast() {
            let next = sum + part
            lost = part - (next - sum)
            sum = next
        }
        // A tie goes by what follows it.
        if let next = parts.last, lost < 0 && next < 0 || lost > 0 && next > 0 {
            let twice = lost * 2
            let candidate = sum + twice
            if candidate - sum == twice { return candidate }
        }
        return sum
    }
}
