import DaybookTestSupport
import Foundation
import Testing

/// File names as the operating system allows them: any bytes.
@Suite struct FileNameTests {
    @Test func `two names that are not UTF-8 do not become one store`() throws {
        let folder = try ScratchFolder()
        let model = Fixture.folder.appending(path: "models/library.json").path

        let result = try Tool.shell(
            """
            cd '\(folder.url.path)'
            for name in $'caf\\xe9' $'caf\\xe8'; do
                $DAYBOOK init "$name" --model '\(model)'; echo "exit $?"
            done
            ls | wc -l
            """)

        #expect(result.lines == ["exit 2", "exit 2", "0"], "\(result.text)")
        #expect(
            result.talk
                == ["e9", "e8"].map { byte in
                    "error: Word 2 of the command line, 'caf\\x\(byte)', is not UTF-8 text. Rename the "
                        + "file, or name it by a link.\n"
                }.joined())
    }

    @Test func `a folder whose name is not UTF-8 holds stores as any other`() throws {
        let folder = try ScratchFolder()
        let model = Fixture.folder.appending(path: "models/library.json").path

        let result = try Tool.shell(
            """
            cd '\(folder.url.path)' && mkdir $'caf\\xe9' && cd $'caf\\xe9' || exit 9
            $DAYBOOK init a --model '\(model)' && $DAYBOOK backup a b && $DAYBOOK verify b \\
                && $DAYBOOK export a -f sqlite --into c && $DAYBOOK export a -f jsonl > d \\
                && $DAYBOOK load e < d && $DAYBOOK replay e \\
                && $DAYBOOK keygen example.org/a --into k > /dev/null \\
                && $DAYBOOK checkpoint a -k k > p && $DAYBOOK tiles a --into t --checkpoint p
            echo "exit $?"
            ls | grep -v lock; ls t; cd ..; ls | wc -l
            """)

        #expect(
            result.lines.drop { !$0.hasPrefix("exit") } == [
                "exit 0", "a", "b", "c", "d", "e", "k", "p", "t", "checkpoint", "tile", "1",
            ],
            "\(result.text)\(result.talk)")
    }
}
