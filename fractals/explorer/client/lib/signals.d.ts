export * from "./signals-core.js";
export function useSignal<T = any>(value?: T): import("./signals-core.js").Signal<T>;
export function useSignalEffect(run: () => void | (() => void)): void;
