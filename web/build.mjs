// Builds the vendored files of the web page: `npm ci --ignore-scripts && node build.mjs [FOLDER]`.
//
// Reads web/package.json and package-lock.json. Writes one ES module for each entry below, without
// source maps, then vendor.lock.json (what is in each file, its hash and size) and the licences.
// mermaid.js is no module: it is written into the sandboxed frame that draws diagrams (web/assets.py).

import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = resolve(process.argv[2] ?? join(here, "../src/vault_agent/web/vendor"));
const locked = JSON.parse(readFileSync(join(here, "package-lock.json"), "utf8")).packages;

// What our own modules import. An entry lists every name, so that nothing else is built in.
const entries = {
  "preact.js": `
    import htm from "htm";
    import { h } from "preact";
    export { Component, Fragment, h, render } from "preact";
    export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
    export { batch, computed, effect, signal, untracked, useComputed, useSignal } from "@preact/signals";
    export const html = htm.bind(h);`,
  "d3-force.js": `
    export { forceCenter, forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY }
      from "d3-force";
    export { quadtree } from "d3-quadtree";`,
  "codemirror.js": `
    export { Compartment, EditorSelection, EditorState, Prec, StateEffect, StateField, RangeSetBuilder,
      Transaction }
      from "@codemirror/state";
    export { Decoration, EditorView, ViewPlugin, WidgetType, drawSelection, dropCursor,
      highlightActiveLine, highlightSpecialChars, keymap, placeholder } from "@codemirror/view";
    export { defaultKeymap, history, historyKeymap, indentLess, indentMore, isolateHistory }
      from "@codemirror/commands";
    export { HighlightStyle, Language, LanguageSupport, defineLanguageFacet, foldService, indentUnit,
      syntaxHighlighting, syntaxTree } from "@codemirror/language";
    export { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap,
      completionStatus, pickedCompletion, startCompletion } from "@codemirror/autocomplete";
    export { Strikethrough, Table, TaskList, parser } from "@lezer/markdown";
    export { Tag, styleTags, tags } from "@lezer/highlight";`,
  // The same copy of state and view as the editor's, so the parts fit together.
  "search.js": `
    export { RegExpCursor, SearchQuery, highlightSelectionMatches, openSearchPanel, search, searchKeymap,
      setSearchQuery }
      from "@codemirror/search";`,
  "merge.js": `export { MergeView, unifiedMergeView } from "@codemirror/merge";`,
  "diff.js": `export { diffArrays } from "diff";`,
  "code.js": `export { common, createLowlight } from "lowlight";`,
  "temml.js": `import temml from "temml"; export const { render } = temml;`,
  "mermaid.js": `import mermaid from "mermaid"; globalThis.mermaid = mermaid;`,
};

// A quarter of mermaid.js would be what formulas and architecture diagrams need, of which the page shows
// the source, and the usual layout of mind maps, which get that of flowcharts.
const leftOut = {
  name: "left out",
  setup(builder) {
    builder.onResolve({ filter: /^(katex|cytoscape)/ }, ({ path }) => ({ path, namespace: "left out" }));
    builder.onResolve({ filter: /^\.\/cose-bilkent-/ }, ({ resolveDir }) => ({
      path: join(
        resolveDir,
        readdirSync(resolveDir).find((each) => /^dagre-.*\.mjs$/.test(each)),
      ),
    }));
    builder.onLoad({ filter: /./, namespace: "left out" }, ({ path }) => ({
      contents: `export default null; throw new Error("Left out: ${path}");`,
    }));
  },
};

// The parts of the editor that are loaded later, each with the package that it is made of.
const parts = {
  "search.js": "@codemirror/search",
  "merge.js": "@codemirror/merge",
};
const first = /^@(codemirror\/(state|view|language|commands)|lezer\/highlight)$/;
const shared = (own) => ({
  name: "one copy of CodeMirror",
  setup(builder) {
    builder.onResolve({ filter: /^@(codemirror|lezer)\// }, ({ path }) => {
      if (first.test(path)) return { path: "./codemirror.js", external: true };
      if (path === parts["search.js"] && own !== path) return { path: "./search.js", external: true };
    });
  },
});

/** Return the package of a file, by its path below node_modules. */
function owner(path) {
  const found = /node_modules\/((?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+)/.exec(path);
  return found ? found[1] : null;
}

/** Return the packages that a package was bundled with before it was published: its chunks name their files. */
function bundledWith(path) {
  if (!path.includes("/@mermaid-js/parser/")) return [];
  const text = readFileSync(join(here, path), "utf8");
  return [...text.matchAll(/^\/\/ .*\/node_modules\/.+$/gm)].map(([line]) => owner(line.split("/.pnpm/").pop()));
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const files = {};
const packages = new Set();
const imported = namesUsed(...Object.values(parts));
for (const [name, entry] of Object.entries(entries)) {
  const source = name === "codemirror.js" ? entry + imported : entry;
  const alone = name === "mermaid.js";
  const result = await bundle(source, alone ? [leftOut] : parts[name] ? [shared(parts[name])] : [], alone);
  const bytes = result.outputFiles[0].contents;
  writeFileSync(join(out, name), bytes);
  const inputs = Object.keys(result.metafile.inputs);
  const used = [...new Set([...inputs.map(owner), ...inputs.flatMap(bundledWith)].filter(Boolean))].sort();
  used.forEach((each) => packages.add(each));
  files[name] = {
    packages: used,
    bytes: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
  };
}
const listed = Object.fromEntries(
  [...packages].sort().map((name) => {
    const { version, license = licenceName(name), integrity } = locked[`node_modules/${name}`];
    return [name, { version, license, integrity }];
  }),
);
const licences = [...packages].sort().map((name) => {
  const { version, license } = listed[name];
  return `${name} ${version} (${license})\n\n${licenceOf(name)}\n`;
});
writeFileSync(join(out, "THIRD_PARTY_LICENSES.txt"), licences.join(`\n${"-".repeat(80)}\n\n`));
writeFileSync(join(out, "vendor.lock.json"), `${JSON.stringify({ files, packages: listed }, null, 2)}\n`);
for (const [name, { bytes, gzip }] of Object.entries(files)) console.log(`${name}: ${bytes} bytes, ${gzip} gzipped`);

/** Return the licence of a package, in full: a file of its own, or a part of what it says of itself. */
function licenceOf(name) {
  const folder = join(here, "node_modules", name);
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file
    ? readFileSync(join(folder, file), "utf8")
    : readFileSync(join(folder, "README.md"), "utf8").split(/^## Licen[cs]e$/m)[1];
  if (!text) throw new Error(`${name} has no licence`);
  return text.replaceAll("\r\n", "\n").trim();
}

/** Return the name of a licence that the package names only in its text. */
function licenceName(name) {
  if (licenceOf(name).startsWith("The MIT License")) return "MIT";
  throw new Error(`${name} does not name its licence`);
}

/** Bundle a module given as text: as a module, or as a script that stands alone. */
async function bundle(contents, plugins, alone) {
  return build({
    stdin: { contents, resolveDir: here, sourcefile: "entry.js" },
    bundle: true,
    absWorkingDir: here, // the paths that it reports begin here
    minify: true,
    format: alone ? "iife" : "esm",
    target: "es2022",
    legalComments: "none",
    charset: "utf8",
    metafile: true,
    write: false,
    plugins,
    logLevel: "warning",
  });
}

/** Return exports of what other packages take of the editor's and its entry does not name. */
function namesUsed(...packages) {
  const own = new Set([...entries["codemirror.js"].matchAll(/\{([^}]*)\}/g)].flatMap(([, list]) => list.match(/\w+/g)));
  const lines = [];
  for (const each of packages) {
    const text = readFileSync(join(here, `node_modules/${each}/dist/index.js`), "utf8");
    for (const [, names, from] of text.matchAll(/^import \{([^}]+)\} from '(@[^']+)'/gm)) {
      if (!first.test(from)) continue;
      const more = names
        .split(",")
        .map((name) => name.trim())
        .filter((name) => !own.has(name));
      if (more.length) lines.push(`export { ${more.join(", ")} } from "${from}";`);
      more.forEach((name) => own.add(name));
    }
  }
  return `\n${lines.join("\n")}`;
}
