// The vendored codemirror.js as our own modules see it.
export { Compartment, EditorSelection, EditorState, Prec, RangeSetBuilder, StateEffect, StateField, Transaction } from "@codemirror/state";
export { Decoration, EditorView, ViewPlugin, WidgetType, drawSelection, dropCursor, highlightActiveLine, highlightSpecialChars, keymap, placeholder } from "@codemirror/view";
export { defaultKeymap, history, historyKeymap, indentLess, indentMore, isolateHistory } from "@codemirror/commands";
export { HighlightStyle, Language, LanguageSupport, defineLanguageFacet, foldService, indentUnit, syntaxHighlighting, syntaxTree } from "@codemirror/language";
export type { CompletionContext } from "@codemirror/autocomplete";
export { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, completionStatus, pickedCompletion, startCompletion } from "@codemirror/autocomplete";
export { Strikethrough, Table, TaskList, parser } from "@lezer/markdown";
export { Tag, styleTags, tags } from "@lezer/highlight";
