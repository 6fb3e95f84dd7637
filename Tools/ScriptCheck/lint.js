"use strict";

// Looks for mistakes in the files of other languages: scripts with ESLint, styles with css-tree.
//
//   node Tools/ScriptCheck/lint.js
//
// Prints a line for each finding and exits with 1 if there is one.

const fs = require("node:fs");
const path = require("node:path");
const { CLIEngine } = require("eslint");
const csstree = require("css-tree");
const { root, embedded, joined } = require("./files.js");

const rules = {
    "array-callback-return": "error",
    "dot-notation": "error",
    "eol-last": "error",
    "eqeqeq": "error",
    // The name of a test is a sentence on one line.
    "max-len": ["error", { code: 100, ignorePattern: "^test\\(" }],
    "no-eval": "error",
    "no-implied-eval": "error",
    "no-multiple-empty-lines": ["error", { max: 1 }],
    "no-new-func": "error",
    // The page is read with whatever browser is there: nothing that is younger than 2022.
    "no-restricted-properties": ["error", ...[
        "findLast", "findLastIndex", "toReversed", "toSorted", "toSpliced", "groupBy", "fromAsync",
        "isWellFormed", "toWellFormed", "withResolvers",
    ].map((property) => ({ property, message: "Browsers before 2023 do not have it." }))],
    "no-return-assign": "error",
    "no-sequences": "error",
    "no-tabs": "error",
    "no-throw-literal": "error",
    "no-trailing-spaces": "error",
    "no-unused-vars": ["error", { args: "after-used" }],
    "no-use-before-define": ["error", { functions: false, variables: false }],
    "no-useless-concat": "error",
    "no-var": "error",
    "object-shorthand": "error",
    // Takes every assignment after an 'await' for a race.
    "require-atomic-updates": "off",
    "prefer-const": "error",
    "quotes": ["error", "double", { avoidEscape: true, allowTemplateLiterals: true }],
    "semi": "error",
    "strict": ["error", "global"],
};

const findings = [];

/** Lints files that share one scope, as one program. */
function lintScripts(files, env) {
    const engine = new CLIEngine({
        useEslintrc: false,
        baseConfig: {
            extends: "eslint:recommended",
            env: { es6: true, ...env },
            parserOptions: { ecmaVersion: 2022 },
            globals: { BigInt: "readonly" },
            rules,
        },
    });
    const [result] = engine.executeOnText(joined(files), "script.js").results;
    for (const message of result.messages) {
        let { line } = message;
        let index = 0;
        const length = (file) => file.text.split("\n").length;
        while (index < files.length - 1 && line > length(files[index])) {
            line -= length(files[index]);
            index += 1;
        }
        findings.push(`${files[index].path}:${line}:${message.column}: ${message.message} `
            + `[${message.ruleId ?? "syntax"}]`);
    }
}

/** Looks for what a browser would leave out, and for names that nothing has. */
function lintStyles(files, users) {
    const texts = users.map((file) => file.text).join("\n");
    const defined = new Map();
    const used = new Set();
    for (const file of files) {
        const tell = (node, sentence) => {
            const { line, column } = node?.loc?.start ?? { line: 1, column: 1 };
            findings.push(`${file.path}:${line}:${column}: ${sentence}`);
        };
        const tree = csstree.parse(file.text, {
            positions: true,
            parseCustomProperty: true,
            onParseError: (error) => tell(
                { loc: { start: error } }, `${error.message}: a browser leaves this out.`),
        });
        csstree.walk(tree, (node) => {
            if (node.type === "Declaration" && node.property.startsWith("--")) {
                defined.set(node.property, () =>
                    tell(node, `Nothing uses '${node.property}'.`));
            } else if (node.type === "Declaration") {
                // A value with a variable is known only to the browser; css-tree does not know
                // that lengths may be computed within 'minmax()'.
                const isOpen = csstree.find(node.value, (part) =>
                    part.type === "Function" && ["var", "min", "max"].includes(part.name));
                const { error } = csstree.lexer.matchDeclaration(node);
                if (error && !(isOpen && error.name !== "SyntaxReferenceError")) {
                    tell(node, `'${csstree.generate(node)}': ${error.message.split("\n")[0]}.`);
                }
            } else if (node.type === "Function" && node.name === "var") {
                used.add(node.children.first.name);
            } else if (node.type === "ClassSelector" || node.type === "IdSelector") {
                if (!new RegExp(`(?<![\\w-])${node.name}(?![\\w-])`).test(texts)) {
                    tell(node, `Nothing is called '${node.name}'.`);
                }
            }
        });
        if (/[ \t]$/m.test(file.text)) tell(null, "A line ends with a blank.");
        if (file.text.split("\n").some((line) => line.length > 100)) {
            tell(null, "A line is longer than 100 characters.");
        }
    }
    for (const [name, tell] of defined) if (!used.has(name)) tell();
    for (const name of used) {
        if (!defined.has(name)) findings.push(`${files[0].path}: Nothing defines '${name}'.`);
    }
}

const read = (file) => ({ path: file, text: fs.readFileSync(path.join(root, file), "utf8") });
const all = (folder, ending) => fs.readdirSync(path.join(root, folder))
    .filter((file) => file.endsWith(ending)).map((file) => read(path.join(folder, file)));

const script = embedded("audit_report_script");
lintScripts(script, { browser: true });
for (const file of [...all("Tools/ScriptCheck", ".js"), ...all("Tests/ReportScriptTests", ".js")]) {
    lintScripts([file], { node: true });
}
lintStyles(
    [...embedded("audit_report_style"), ...embedded("audit_report_style_without_script")],
    [
        ...script, ...embedded("audit_report_views"),
        ...all("Sources/DaybookAudit/Report", ".swift"),
    ]);
lintStyles(
    [read("Tools/daybook-benchmark/chart.css")],
    [read("Tools/daybook-benchmark/Report+Chart.swift")]);

for (const finding of findings) console.log(finding);
if (findings.length > 0) process.exitCode = 1;
