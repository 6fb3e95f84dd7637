import DaybookTestSupport
import Foundation
import Testing

/// Many processes that save to one shared store, and ones that are killed in the middle of it.
@Suite struct SharedCrashTests {
    @Test
    func `what many processes save, some of them killed at any call, is there once or not at all`()
        throws
    {
        // All calls of a save with `DAYBOOK_SHARED_KILLS=100000`.
        let kills =
            ProcessInfo.processInfo.environment["DAYBOOK_SHARED_KILLS"].flatMap { Int($0) } ?? 24
        let result = try SharedServers.run(
            """
            daybook init 0.daybook --model model.json --shared "$PLACE" >/dev/null
            for copy in 1 2 3; do daybook clone "$PLACE" $copy.daybook >/dev/null; done

            # Four to each copy, all at once; what is told as saved is noted.
            write() {
                for number in 1 2 3; do
                    insert "$1$2$number" "$1.$2.$number" | record "$1.daybook" "writer $2" \\
                        && echo "$1.$2.$number" >>"saved.$1.$2"
                done
            }
            for copy in 0 1 2 3; do for writer in a b c d; do write $copy $writer & done; done
            wait $(jobs -p)
            sort saved.* | uniq | wc -l

            # How many calls a save makes, and then a kill at some of them.
            insert count count >line
            strace -f -qq -o calls "$DAYBOOK" record 1.daybook -a calls <line >/dev/null
            count=$(wc -l <calls)
            echo count >>saved.1
            kills=$((\(kills) < count ? \(kills) : count))
            for part in $(seq 1 $kills); do
                call=$((count * (part - 1) / kills + 1 + RANDOM % ((count + kills - 1) / kills)))
                insert "k$part" "k$part" >line
                strace -f -qq -o /dev/null -e inject=all:signal=KILL:when=$call "$DAYBOOK" record 1.daybook -a killed \\
                    <line >/dev/null 2>&1 && echo "k$part" >>saved.1
                case $part in *0) daybook fetch 2.daybook Country --count >/dev/null ;; esac
            done
            for copy in 0 1 2 3; do
                daybook pull $copy.daybook >/dev/null || echo "pull $copy: $?"
                daybook verify $copy.daybook >/dev/null || echo "verify $copy: $?"
                daybook export $copy.daybook -f jsonl >$copy.jsonl
                cmp 0.jsonl $copy.jsonl
            done
            # Each that was told as saved is there, and no name twice.
            daybook fetch 3.daybook Country --output jsonl | sed 's/.*"name":"\\([^"]*\\)".*/\\1/' | sort >there
            uniq -d there | wc -l
            sort saved.* | comm -23 - there | wc -l
            ls *-unsynced 2>/dev/null
            cat talk >&3
            """)

        #expect(result.lines == ["48", "0", "0"], "\(result.text)\n\(result.talk)")
    }
}
