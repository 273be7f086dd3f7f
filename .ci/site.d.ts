/** What the engine of a site reads and draws: `fractals/explorer/client/site/`. */
/** A scene whose tables are complete, as of `whole`; others stand in it as they were given. */
interface SiteScene extends WholeScene {
  iteration: Required<Scenes.Iteration>; color: SiteColor;
  image: Scenes.ImageSettings & { size: number[]; supersampling: number };
}
interface SiteColor extends Color { inside: string }
/** `engine/facts.json`, as `fractals/explorer/site/tables.py` writes it. */
interface SiteFacts {
  version: string; refusals: string[]; first: Scene; gallery: boolean; relaxed: boolean; defaults: SiteScene; scenes: Record<string, Scene>;
  formulas: Record<string, SiteFormula>; colorings: Record<string, SiteColoring>; palettes: Record<string, PaletteTable>;
  spaces: { lms: number[][]; lab: number[][]; roots: number[][]; linear: number[][]; entries: number; levels: number };
  probe: { limitSize: number[]; size: number[]; late: number; kept: number; scales: number[][]; depths: number[]; most: number };
  bits: { all: number; exact: number; far: number; least: number; spare: number };
  deep: { guard: number; extended: number; least: number; changed: number; first: number; next: number; patience: number };
}
interface SiteFormula {
  name: string; title: string; center: string[]; width: string; degree: number; fraction: number[]; tolerance: number; escapes: boolean; maps: number;
  usual: string; replaces: boolean; refused: Record<string, number>; parameters: Record<string, unknown>; options: number[]; programs: Record<string, string>;
  holomorphic: boolean;
}
interface SiteColoring {
  derivative: boolean; transfer: string; palette: Palette; blend: string; side: string; counted: boolean; converging: boolean; planes: number; moves: boolean;
  options: Settings; parts: Record<string, string>;
}
/** Values of a coloring's options. */
type Settings = Record<string, number>;
/** What a file of programs tells of them: those that iterate, or the numbers of those that color. */
interface ProgramsFacts { programs: Record<string, ProgramFacts> | Record<string, number> }
interface ProgramFacts {
  memory: number; stack: number; planes: number; data: [number, string][]; places: Record<string, number>; calls: [string, number][]; limitAt: number[];
}
/** What a file of programs for deep views tells of them, as `fractals/explorer/site/deep.py` writes it. */
interface DeepFacts {
  stack: number; lowest: number; within: number; least: number; extended: boolean; moves: boolean;
  /** Of each program the calls in turn: its number, and names with the shape of an array, "d" of a float64 or "q" of a whole number. */
  calls: Record<string, [number, [string, number[] | "d" | "q"][]][]>;
  /** Constants by row; operations: 1 for a product, the row of the result, and two operands; the next point. */
  step: [Record<string, number>, number[][], [number, number, number, number][]];
  /** The numbers whose absolute values the step takes, the second one x where there is but one; and the powers of z in them. */
  kinks: { step: DeepFacts["step"]; count: number; degrees: number[] } | null;
}
