export function render(tex: string, into: Element, options?: Record<string, unknown>): void;
