export interface Signal<T> { value: T; peek(): T }
export function signal<T = any>(value?: T): Signal<T>;
export function computed<T>(compute: () => T): Signal<T>;
export function effect(run: () => void | (() => void)): () => void;
export function batch<T>(run: () => T): T;
export function untracked<T>(run: () => T): T;
