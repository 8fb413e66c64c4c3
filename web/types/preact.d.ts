// The vendored preact.js as our own modules see it.
export { Component, Fragment, h, render } from "preact";
export { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
export { batch, computed, effect, signal, untracked, useComputed, useSignal } from "@preact/signals";
export const html: (strings: TemplateStringsArray, ...values: any[]) => any;
