/**
 * What files of other programs set without an equivalent here, in the language of the page: the commonest of the server's
 * lines. Others stay English, as messages about wrong files are.
 */
import { LANGUAGES, language, withValues } from "../words.js";

/** English, where `#` is a name or a number; German, Chinese. @type {[string, string, string][]} */
export const LOSSES = [
  [
    "the palette in the file #, which is not beside it: a file that is sent alone must hold what it names",
    "die Palette in der Datei #, die nicht daneben liegt: Eine Datei, die allein gesendet wird, muss enthalten, was sie nennt",
    "文件 # 中的调色板，它不在旁边：单独发送的文件必须包含它所引用的内容",
  ],
  [
    "the formula # of #, which is not found: the one that usually has this name is drawn",
    "die Formel # aus #, die nicht gefunden wird: Gezeichnet wird die, die üblicherweise so heißt",
    "找不到 # 所属的公式文件 #：改为绘制通常用这个名称的公式",
  ],
  [
    "the formula, which the file doesn't name: the Mandelbrot set is drawn",
    "die Formel, die in der Datei nicht steht: Gezeichnet wird die Mandelbrot-Menge",
    "文件没有写明公式：改为绘制曼德博集合",
  ],
  [
    "smooth: the curves here are monotone cubics, and may differ a little",
    "„smooth“: Die Kurven sind hier monoton kubisch und können etwas abweichen",
    "smooth：这里的曲线是单调三次曲线，可能略有不同",
  ],
  [
    "the size of cells, one for each pixel of the screen: they are #x# here",
    "die Größe der Zellen, eine je Pixel des Bildschirms: Hier sind es #x#",
    "单元格的大小（屏幕每像素一个）：此处为 #x#",
  ],
  [
    "the random first row: it is always the same one here",
    "die zufällige erste Zeile: Hier ist es immer dieselbe",
    "随机的第一行：此处总是同一行",
  ],
  [
    "the continuous potential, which blends the bands of counts (potential)",
    "das stetige Potential, das die Stufen der Zähler verwischt (potential)",
    "使计数的色带平滑过渡的连续势（potential）",
  ],
  [
    "how distance becomes color (ColorMethod: #, IterDiv: #)",
    "wie aus Abstand Farbe wird (ColorMethod: #, IterDiv: #)",
    "距离如何变成颜色（ColorMethod: #, IterDiv: #）",
  ],
  ["slopes (Slopes: #)", "die Schattierung (Slopes: #)", "斜面光影（Slopes: #）"],
  [
    "colors by a shader of its own (UseOpenGL: #)",
    "Farben eines eigenen Shaders (UseOpenGL: #)",
    "自带着色器的颜色（UseOpenGL: #）",
  ],
  ["edges drawn as lines", "als Linien gezeichnete Kanten", "画成线条的边缘"],
  [
    "the curve of colors (logmap=yes): counts go round the colors evenly",
    "die Kurve der Farben (logmap=yes): Iterationen laufen gleichmäßig durch die Farben",
    "颜色曲线（logmap=yes）：迭代次数均匀地循环颜色",
  ],
  [
    "the curve of colors (logmap=#): counts go round the colors evenly",
    "die Kurve der Farben (logmap=#): Iterationen laufen gleichmäßig durch die Farben",
    "颜色曲线（logmap=#）：迭代次数均匀地循环颜色",
  ],
  [
    "the limit of # iterations: # is the most",
    "die Grenze von # Iterationen: # sind das Höchste",
    "迭代上限 #：最多为 #",
  ],
  ["and # more", "und # weitere", "以及另外 # 项"],
];
const column = LANGUAGES.findIndex(([name]) => name === language);
/** @type {Record<string, string>} */
const FOUND = Object.fromEntries(LOSSES.map((each) => [each[0], each[column]]));

/** Return a line about a setting in words of the page. @param {string} line */
export const lossOf = (line) => withValues(line, FOUND);
