// The words of parts that are loaded when they are first shown: the first view does without them.

import { count, some } from "./words.js";

export const laterWords = {
  edges: { list: "Width of the list", side: "Width of the side panel" },
  vaults: {
    ready: "ready",
    indexing: "indexing",
    closed: "not open",
    missing: "folder missing",
    untrusted: "not trusted",
    error: "no index",
  },
  dates: { today: "Today", week: "Last 7 days", month: "Last 30 days", year: "This year", any: "Any date" },
  edit: {
    modes: { label: "Preview", off: "Text only", beside: "Preview beside the text", instead: "Preview only" },
    tool: {
      bold: "Bold",
      italic: "Italic",
      heading: "Heading",
      list: "List",
      numbers: "Numbered list",
      task: "Task",
      quote: "Quote",
      code: "Code",
      link: "Link",
      wikilink: "Link to a note",
      image: "Picture or file",
      table: "Table",
    },
    state: {
      saved: "Saved",
      unsaved: "Not saved yet",
      saving: "Saving",
      failed: "Not saved, will try again",
      refused: "Not saved",
      held: "Conflict",
      merged: "Changed elsewhere",
      gone: "Deleted elsewhere",
    },
    conflict: {
      left: (/** @type {number} */ n) => `${n} ${some(n, "difference", "differences")}`,
    },
    properties: {
      value: (/** @type {string} */ name) => `Value of ${name}`,
    },
    files: {
      refused: (/** @type {string} */ name, /** @type {string} */ why) => `${name} was not added. ${why}`,
    },
    phrases: {
      next: "Next",
      previous: "Previous",
      all: "All",
      "match case": "Match case",
      regexp: "Regular expression",
      "by word": "Whole words",
      replace: "Replace",
      "replace all": "Replace all",
      close: "Close",
      "replaced match on line $": "replaced the match on line $",
      Completions: "Suggestions",
      go: "Go",
    },
  },
  promote: {
    text: (/** @type {string} */ title) =>
      `A copy of ${title} is written into your global vault, where agents in all projects may get it. ` +
      "The note itself stays, and says where its copy is.",
    faults: {
      PROMOTE_SIMILAR: "The global vault has a similar note. Read it first.",
      PROMOTE_SECRETS: "This looks like something secret. Remove it from the note first.",
    },
  },
  settings: {
    themes: { system: "System", light: "Light", dark: "Dark" },
  },
  /** Blocks that Obsidian or a plugin of it shows, by their language. */
  blocks: {
    dataview: "Dataview query: results only in Obsidian",
    dataviewjs: "A Dataview script, which Obsidian runs",
    base: "Base: shown only in Obsidian",
    tasks: "Tasks query: results only in Obsidian",
    query: "Search: results only in Obsidian",
    mermaid: "A diagram of Mermaid, which Obsidian draws",
  },
  diagrams: {
    /** By the names that Mermaid has for them. */
    kinds: {
      "flowchart-v2": "Flowchart",
      sequence: "Sequence diagram",
      classDiagram: "Class diagram",
      stateDiagram: "State diagram",
      er: "Entity relationship diagram",
      gantt: "Gantt chart",
      pie: "Pie chart",
      gitGraph: "Git graph",
      timeline: "Timeline",
      quadrantChart: "Quadrant chart",
      mindmap: "Mind map",
      journey: "User journey",
      xychart: "XY chart",
      sankey: "Sankey diagram",
      kanban: "Kanban board",
      requirement: "Requirement diagram",
      c4: "C4 diagram",
    },
    silent: { late: "This diagram takes too long to draw", unloaded: "The drawing could not be loaded" },
  },
  /** Why a result is where it is. The names are those of the server. */
  why: {
    of: (/** @type {string} */ title) => `Why? ${title}`,
    votes: {
      exactName: "The note is named exactly so",
      name: "The note is named similarly",
      names: "Words in title, aliases and file name",
      heading: "The heading is similar",
      body: "Words in the whole note",
      chunk: "Words in the passage shown",
      pairs: "Words side by side",
      whole: "All words in one passage",
      words: "Words of the search",
      meaning: "Meaning of the search",
      cosine: "Meaning of the search",
    },
    weights: { folder: "Its folder", recency: "Its age" },
  },
  files: {
    links: (/** @type {number} */ links, /** @type {number} */ files) =>
      links ? `Updates ${links} ${some(links, "link", "links")} in ${files} ${some(files, "note", "notes")}.` : "",
    inside: (/** @type {number} */ n) => `${n} ${some(n, "note", "notes")} ${some(n, "is", "are")} in it.`,
    broken: (/** @type {number} */ n) => `${n} ${some(n, "link", "links")} to it will break.`,
    operations: {
      create: "Created",
      append: "Added to",
      prepend: "Added to",
      overwrite: "Replaced",
      replace: "Changed",
      section: "Changed",
      frontmatter: "Properties of",
      tags: "Tags of",
      move: "Moved",
      delete: "Deleted",
      undo: "Took back",
      template: "Created",
      attachment: "Added",
      folder: "Made",
      "tasks/add": "Task added to",
      "tasks/set": "Task changed in",
      upsert: "Added to",
      journal: "Journal",
      promote: "Promoted",
      promote_undo: "Promotion taken back of",
      supersede: "Superseded",
    },
  },
  journals: {
    states: {
      complete: "Complete",
      incomplete: "Incomplete",
      skipped: "None",
      pending: "Not written yet",
    },
    reasons: /** @type {Record<string, string>} */ ({
      edited: "you have changed it, so it stays as it is",
      short: "the session was too short",
      asked: "it is written when you ask for it",
      excluded: "the session is excluded",
      crash: "the session broke off",
      command_failed: "the command gave nothing usable",
      transcript_missing: "the record of the session is missing",
    }),
  },
  graph: {
    label: (/** @type {string} */ n) => `Graph of ${n} ${n === "1" ? "note" : "notes"}. Press L to see a list.`,
    only: { folder: "Only this folder", tag: "Only this tag" },
    any: { folder: "All folders", tag: "All tags" },
    switches: { clusters: "Clusters", orphans: "Notes without links", unresolved: "Missing notes" },
    colours: { type: "Type", folder: "Folder", cluster: "Cluster" },
    unlinked: (/** @type {string} */ n) => `${n} ${n === "1" ? "note" : "notes"} without links are hidden.`,
    steps: (/** @type {number} */ n) => `${n} ${some(n, "step", "steps")}`,
    connections: (/** @type {string} */ n) => `${n} ${n === "1" ? "connection" : "connections"}`,
  },
  agents: {
    "claude-code": "Claude Code",
    codex: "Codex",
    gemini: "Gemini CLI",
    opencode: "opencode",
    mcp: "MCP client",
    cli: "Command line",
  },
  memory: {
    untitled: (/** @type {string} */ agent) => `Session of ${agent}`,
    got: (/** @type {number} */ n, /** @type {string} */ text) => `${text} ${some(n, "note", "notes")}`,
    tokens: (/** @type {string} */ n, /** @type {string} */ most) => (most ? `${n} of ${most} tokens` : `${n} tokens`),
    events: { start: "At the start", prompt: "With a prompt", manual: "Asked for" },
    by: {
      files: (/** @type {string[]} */ list) =>
        `the files ${list.slice(0, 5).join(", ")}${list.length > 5 ? " and more" : ""}`,
      tags: (/** @type {string[]} */ list) => `the tags ${list.slice(0, 8).join(", ")}`,
    },
    comparedWith: (/** @type {string[]} */ list) => `Compared with ${list.join(", ")}`,
    match: { tag: "Shared tags or files", semantic: "Similar text", both: "Shared tags or files, similar text" },
    why: {
      words: "has words of the prompt",
      pinned: "was added by you",
      open: "holds what is still open",
    },
    leftOutWhy: {
      relevance: "scored too low",
      duplicate: "the same as another",
      limit: "over the limit of notes",
      budget: "over the token limit",
      empty: "says no more than its title",
      session: "the journal of this very session",
      delivered: "the session has it",
    },
    difference: (/** @type {number} */ come, /** @type {number} */ gone, /** @type {number} */ other) =>
      `${come} ${some(come, "note", "notes")} would come, ${gone} would go, ` +
      `and ${other} ${some(other, "has", "have")} changed. ` +
      "The agent gets nothing of it until you apply it.",
  },
  note: {
    hits: {
      at: (/** @type {number} */ at, /** @type {number} */ n, /** @type {boolean} */ more) =>
        `${at ? `${at} of ` : ""}${n}${more ? "+" : ""}${at ? "" : ` ${some(n, "hit", "hits")}`}`,
    },
    words: (/** @type {string} */ n) => `${n} ${n === "1" ? "word" : "words"}`,
    localGraphSays: (/** @type {number} */ n) =>
      `${n} ${some(n, "note", "notes")} near this one. The list of backlinks and links says the same.`,
    depth: (/** @type {number} */ n) => `${n} ${some(n, "step", "steps")} away`,
    tabs: { linked: "Linked", unlinked: "Unlinked", outgoing: "Outgoing" },
    noLinks: {
      linked: "No note links here.",
      unlinked: "No other note names this one without a link.",
      outgoing: "It links to no other note.",
    },
    remote: (/** @type {string} */ text, /** @type {string} */ host) =>
      `${text ? `${text} · ` : ""}${host ? `not loaded from ${host}` : "not loaded"}`,
  },
  jobs: {
    phases: {
      scan: "Find notes",
      parse: "Read notes",
      attachments: "Read attachments",
      store: "Write the index",
      embed: "Embed",
      plan: "Find links",
      write: "Write notes",
    },
    kinds: { index: "Index", reindex: "Rebuild", move: "Move", undo: "Undo" },
    states: {
      queued: "Waiting",
      running: "Running",
      succeeded: "Done",
      failed: "Failed",
      cancelled: "Cancelled",
      interrupted: "Interrupted",
    },
    triggers: { user: "", start: "at the start", watch: "after a change", scan: "by a periodic check" },
    summary: (/** @type {any} */ summary) =>
      [
        summary.added && `${summary.added} added`,
        summary.changed && `${summary.changed} changed`,
        summary.removed && `${summary.removed} removed`,
        summary.renamed && `${summary.renamed} renamed`,
        summary.embedded && `${summary.embedded} embedded`,
      ]
        .filter(Boolean)
        .join(", ") || "Nothing had changed",
    warnings: (/** @type {number} */ n) => `${n} ${some(n, "warning", "warnings")}`,
  },
};

/** A share from 0 to 1 in percent. @param {unknown} share */
export const percent = (share) => `${count(Math.round(Number(share) * 100))} %`;
