export type Node = object | string | number | boolean | null | undefined | Node[];
export function h(type: unknown, properties?: object | null, ...children: unknown[]): object;
export function render(node: Node, parent: Element): void;
