export interface Color { mode: string; l?: number; c?: number; h?: number; r?: number; g?: number; b?: number }
export function parse(text: string): Color | undefined;
export function oklch(color: Color | string): { l: number; c: number; h?: number }; // of what `parse` reads
export function formatHex(color: Color): string;
export function toGamut(mode: string, space: string): (color: Color) => Color;
export function interpolate(colors: unknown[], mode: string): (at: number) => Color;
