/**
 * What a page without a server says of itself, in the languages of the page. As a server's, lines about wrong files and messages
 * are English.
 */
import { sayOf } from "../words.js";

/** English, German, Chinese; `{name}` stands for a value. @type {Record<string, [string, string, string]>} */
export const texts = {
  elsewhere: [
    "This page has no server: the program, fractals explore, {what}.",
    "Diese Seite hat keinen Server: Das Programm, fractals explore, {what}.",
    "此页面没有服务器：程序 fractals explore 可以{what}。",
  ],
  searches: [
    "searches for minibrots and places",
    "sucht Minibrots und Orte",
    "搜索小曼德博集合和位置",
  ],
  surprises: ["makes surprises", "macht Ideen", "给出惊喜"],
  films: ["makes films", "macht Filme", "制作影片"],
  loupe: ["shows the loupe", "zeigt die Lupe", "显示放大镜"],
  does: ["does this", "kann das", "做到这一点"],
  draws: ["draws '{name}'", "zeichnet „{name}“", "绘制“{name}”"],
  draws_coloring: [
    "draws the coloring '{name}'",
    "zeichnet die Färbung „{name}“",
    "绘制着色方式“{name}”",
  ],
  takes_any: [
    "takes any {keys} of '{name}', and this page {served}",
    "nimmt jedes {keys} von „{name}“, und diese Seite {served}",
    "采用“{name}”的任意 {keys}，此页面只有 {served}",
  ],
  groups: ["draws groups and masks", "zeichnet Gruppen und Masken", "绘制组和蒙版"],
  colors: [
    "draws {colors} of '{name}'",
    "zeichnet {colors} von „{name}“",
    "绘制“{name}”的{colors}",
  ],
  these_colors: ["these colors", "diese Farben", "这些颜色"],
  jittered: [
    "draws jittered samples, which lie on a grid here",
    "zeichnet unregelmäßige Abtastpunkte, die hier auf einem Gitter liegen",
    "绘制抖动的采样点，而它们在此位于网格上",
  ],
  wide: [
    "draws HDR and wide gamuts; this picture is in sRGB",
    "zeichnet HDR und große Farbräume; dieses Bild ist in sRGB",
    "绘制 HDR 与广色域，而此图是 sRGB",
  ],
  exponential: ["draws exponential maps", "zeichnet Exponentialkarten", "绘制指数映射图"],
  any_depth: [
    "goes to any depth, and the numbers of this page do not tell places so near apart",
    "geht beliebig tief; die Zahlen dieser Seite unterscheiden so nahe Orte nicht",
    "到达任意深度，而此页面的数值无法区分这么近的位置",
  ],
  escape_radius: [
    "draws this view whose center comes to the escape radius; give another radius",
    "zeichnet diese Ansicht, deren Mitte den Fluchtradius trifft; geben Sie einen anderen Radius an",
    "绘制此视图，其中心的轨道恰好到达逃逸半径；请改用其他半径",
  ],
  deep_colors: [
    "{colors} follows derivatives that float64 can't hold in a view so deep: choose another coloring, such as multiplier",
    "{colors} folgt Ableitungen, die float64 in einer so tiefen Ansicht nicht fasst: Wählen Sie eine andere Färbung, etwa multiplier",
    "{colors} 跟踪的导数在这么深的视图中超出 float64 的范围：请改用其他着色方式，例如 multiplier",
  ],
  flies_to: [
    "flies to what a search has found",
    "fliegt zu dem, was eine Suche gefunden hat",
    "飞到搜索所得之处",
  ],
  flies: ["flies around solids", "fliegt um Körper", "绕立体飞行"],
  other_files: [
    "writes other files than PNG",
    "schreibt andere Dateien als PNG",
    "写出 PNG 以外的文件",
  ],
  posters: ["makes posters", "macht Poster", "制作海报"],
  larger: [
    "writes pictures above {most} pixels a side",
    "schreibt Bilder über {most} Pixel je Seite",
    "写出边长超过 {most} 像素的图像",
  ],
  reads_more: [
    "reads other files than TOML, and PNGs with their scene",
    "liest andere Dateien als TOML und PNGs mit ihrer Szene",
    "读取 TOML 和带场景的 PNG 以外的文件",
  ],
  rough: [
    "float64 may round some counts here: the program, fractals explore, draws this place exactly",
    "float64 rundet hier vielleicht einige Zählungen: Das Programm, fractals explore, zeichnet diesen Ort genau",
    "float64 在此可能会舍入部分计数：程序 fractals explore 能精确绘制此处",
  ],
  unreached: [
    "The page's files can't be reached. It tries again.",
    "Die Dateien der Seite sind nicht zu erreichen. Sie versucht es wieder.",
    "无法读取页面的文件，正在重试。",
  ],
  julia_already: [
    "this is a Julia set already: its points have none of their own",
    "Dies ist schon eine Julia-Menge: Ihre Punkte haben keine eigenen",
    "这已经是朱利亚集合：它的点没有各自的朱利亚集合",
  ],
  not_yet: [
    "the view is not drawn yet: try again",
    "Die Ansicht ist noch nicht gezeichnet: Versuchen Sie es wieder",
    "视图尚未绘制完成：请再试一次",
  ],
  no_scene: ["this picture has no scene", "Dieses Bild hat keine Szene", "这幅图像不带场景"],
  damaged: [
    "the link is damaged or cut short: copy the whole of it again",
    "Der Link ist beschädigt oder abgeschnitten: Kopieren Sie ihn noch einmal ganz",
    "链接已损坏或不完整：请重新完整复制",
  ],
  too_far: [
    "the view lies 1e{exponent} from 0: nothing is drawn out there",
    "Die Ansicht liegt 1e{exponent} von 0: Dort draußen wird nichts gezeichnet",
    "视图距离 0 有 1e{exponent}：那里什么都不画",
  ],
  too_wide: [
    "the view would be as wide as 1e{exponent}: go the other way",
    "Die Ansicht würde so breit wie 1e{exponent}: Gehen Sie in die andere Richtung",
    "视图宽度将达到 1e{exponent}：请往另一个方向走",
  ],
  bookmarks_changed: [
    "the bookmarks have changed: open the list again",
    "Die Lesezeichen haben sich geändert: Öffnen Sie die Liste noch einmal",
    "书签已改变：请重新打开列表",
  ],
  most_bookmarks: [
    "this browser keeps at most {most} bookmarks",
    "Dieser Browser behält höchstens {most} Lesezeichen",
    "此浏览器最多保存 {most} 个书签",
  ],
  worker_failed: [
    "a worker of this page has failed: load the page again",
    "Ein Teil dieser Seite ist ausgefallen: Laden Sie die Seite neu",
    "此页面的一个工作进程出错：请重新载入页面",
  ],
  memory: [
    "this view takes a worker {most} MB of memory, which this browser does not give",
    "Diese Ansicht braucht {most} MB Speicher, die dieser Browser nicht hergibt",
    "此视图需要 {most} MB 内存，而此浏览器不提供",
  ],
  not_loaded: [
    "a program was not loaded: try again when the page's host can be reached",
    "Ein Programm wurde nicht geladen: Versuchen Sie es wieder, wenn der Server der Seite zu erreichen ist",
    "有一个程序未能载入：请在能访问此页面的服务器时再试",
  ],
  this_browser: ["this browser", "dieser Browser", "此浏览器"],
};

/** Return a line in the page's language. */
export const told = sayOf(texts);

/** Return the line that the program can do what this page can't. @param {string} key @param {Record<string, string|number>} [values] */
export const elsewhere = (key, values) => told("elsewhere", { what: told(key, values) });
