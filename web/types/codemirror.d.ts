// The vendored codemirror.js as our own modules see it.
export { Compartment, EditorSelection, EditorState, Prec, RangeSetBuilder, StateEffect, StateField, Transaction } from "@codemirror/state";
export { Decoration, EditorView, ViewPlugin, WidgetType, drawSelection, dropCursor, highlightActiveLine, highlightSpecialChars, keymap, placeholder } from "@codemirror/view";
export { defaultKeymap, history, historyKeymap, indentLess, indentMore, isolateHistory } from "@codemirror/commands";
export { HighlightStyle, Language, LanguageSupport, defineLanguageFacet, foldService, indentUnit, syntaxHighlighting, syntaxTree } from "@codemirror/language";
export type { Extension, Line as TextLine, TransactionSpec } from "@codemirror/state";
export type { ViewUpdate } from "@codemirror/view";
export type { Completion, CompletionContext } from "@codemirror/autocomplete";
export type { SyntaxNode, SyntaxNodeRef } from "@lezer/common";
export type { BlockContext, InlineContext, Line } from "@lezer/markdown";
export { acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, completionStatus, pickedCompletion, startCompletion } from "@codemirror/autocomplete";
export { Strikethrough, Table, TaskList, parser } from "@lezer/markdown";
export { Tag, styleTags, tags } from "@lezer/highlight";
