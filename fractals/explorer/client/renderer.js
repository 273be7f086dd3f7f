/** Draws pictures with WebGL2: values in float textures, colored by a shader. */
import { isSoftware } from "./card.js";
import { inverse } from "./frames.js";
import { BEYOND, BLENDS, COLORS, CORNERS, IMAGE, LEVELS, TABLE_WIDTH } from "./shaders.js";

const BACKGROUND = [0.035, 0.035, 0.043, 1];

/** Return a renderer, or null without WebGL2. @param {HTMLCanvasElement} canvas
 * @param {boolean} software also where no graphics card draws */
export function makeRenderer(canvas, software) {
  if (!software && isSoftware()) return null;
  const gl = canvas.getContext("webgl2", {
    alpha: false,
    antialias: false,
    depth: false,
    powerPreference: "high-performance",
  });
  return gl && new Renderer(gl, canvas);
}

/** @typedef {import("./picture.js").Picture} Picture */
/** @typedef {import("./picture.js").Image} Image */
/** @typedef {import("./picture.js").Plane} Plane */
/** @typedef {{program: WebGLProgram, at: Record<string, WebGLUniformLocation|null>}} Program */
/** @typedef {{map: number[], size: number[], flip: number}} Target what is drawn on: `map` of the picture there */
/** @typedef {{exact: boolean, phase: number}} Shown */

export class Renderer {
  programs = /** @type {Record<"colors"|"image"|"beyond", Program>} */ ({});
  picture = /** @type {Picture|null} */ (null); // whose textures are there
  values = true; // it colors values, and not only pixels

  constructor(/** @type {WebGL2RenderingContext} */ gl, /** @type {HTMLCanvasElement} */ canvas) {
    this.gl = gl;
    this.canvas = canvas;
    this.begin();
  }

  get lost() {
    return this.gl.isContextLost();
  }

  end() {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }

  /** Make programs and tables, at first and after a lost context. */
  begin() {
    const { gl } = this;
    /** @type {Partial<Record<Plane, {texture: WebGLTexture, size: number[], count: number}>>} of the newest picture */
    this.textures = {};
    this.tables =
      /** @type {{of: import("./picture.js").Colors, texture: WebGLTexture, first: number[]}|null} */ (
        null
      );
    this.programs = {
      colors: program(gl, CORNERS, COLORS),
      image: program(gl, CORNERS, IMAGE),
      beyond: program(gl, CORNERS, BEYOND),
    };
    this.buffer = /** @type {WebGLFramebuffer|null} */ (gl.createFramebuffer());
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.clearColor(BACKGROUND[0], BACKGROUND[1], BACKGROUND[2], BACKGROUND[3]);
    const encoding = new Uint8Array(LEVELS);
    for (let k = 0; k < LEVELS; k++) {
      const light = k / (LEVELS - 1);
      encoding[k] = Math.round(
        255 * (light <= 0.0031308 ? light * 12.92 : 1.055 * light ** (1 / 2.4) - 0.055),
      );
    }
    this.encoding = this.#texture(gl.TEXTURE_2D, gl.NEAREST);
    gl.texImage2D(
      gl.TEXTURE_2D,
      0,
      gl.R8UI,
      128,
      128,
      0,
      gl.RED_INTEGER,
      gl.UNSIGNED_BYTE,
      encoding,
    );
    this.nothing = this.#texture(gl.TEXTURE_2D_ARRAY, gl.NEAREST);
    gl.texImage3D(gl.TEXTURE_2D_ARRAY, 0, gl.R32F, 1, 1, 1, 0, gl.RED, gl.FLOAT, null);
    this.blank = this.#texture(gl.TEXTURE_2D, gl.NEAREST);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 1, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
  }

  /** Draw older pictures, and the newest one.
   * @param {{image: Image, map: number[], above: boolean}[]} under from the bottom @param {Picture|null} picture
   * @param {Shown & {map: number[], coarse: boolean, share: number, beyond: {image: Image, map: number[], plain: boolean}|null}} how
   * `beyond`: the picture that goes on, blurred, where there is none */
  draw(under, picture, how) {
    const { gl, canvas } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const target = { map: how.map, size: [canvas.width, canvas.height], flip: 1 };
    if (how.beyond) this.#beyond(how.beyond, target);
    gl.enable(gl.BLEND);
    let below = how.coarse;
    for (const { image, map, above } of under) {
      if (above && below) {
        this.#colors(picture, "coarse", target, how);
        below = false;
      }
      this.#image(image, { ...target, map });
    }
    if (!picture) return;
    if (below) this.#colors(picture, "coarse", target, how);
    this.#colors(picture, "fine", target, how);
  }

  /** Return what has arrived of a picture as images of its own: {size, step, texture}.
   * @param {Picture} picture @param {Shown} how @returns {Image[]} */
  bake(picture, how) {
    const images = [],
      { gl } = this;
    for (const plane of /** @type {Plane[]} */ (["coarse", "fine"])) {
      const step = (plane === "coarse" && picture.coarse?.step) || 1;
      if (
        plane === "coarse" ? !picture.coarse || picture.complete : !picture.fine && !picture.exact
      )
        continue;
      const extent = picture.size.map((side) => Math.ceil(side / step));
      const texture = this.#drawnTo(extent);
      gl.viewport(0, 0, extent[0], extent[1]);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.clearColor(BACKGROUND[0], BACKGROUND[1], BACKGROUND[2], BACKGROUND[3]);
      gl.disable(gl.BLEND);
      this.#colors(
        picture,
        plane,
        {
          map: [1, 0, 0, 1, 0, 0],
          size: extent.map((side) => side * step),
          flip: 0,
        },
        how,
      );
      gl.bindTexture(gl.TEXTURE_2D, texture);
      gl.generateMipmap(gl.TEXTURE_2D);
      images.push({
        texture,
        step,
        size: picture.size,
        extent: extent.map((side) => side * step),
        bytes: 6 * extent[0] * extent[1],
      });
    }
    return images;
  }

  free(/** @type {Image} */ { texture }) {
    this.gl.deleteTexture(texture ?? null);
  }

  /** Return a small image of the canvas as it was just drawn. @returns {Image} */
  keep(_plain = false) {
    const {
        gl,
        canvas: { width, height },
      } = this,
      extent = [width, height].map((side) => Math.max(1, side >> 2));
    const texture = this.#drawnTo(extent);
    gl.bindFramebuffer(gl.READ_FRAMEBUFFER, null);
    gl.blitFramebuffer(
      0,
      0,
      width,
      height,
      0,
      extent[1],
      extent[0],
      0,
      gl.COLOR_BUFFER_BIT,
      gl.LINEAR,
    );
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.generateMipmap(gl.TEXTURE_2D);
    return {
      texture,
      size: [width, height],
      extent: [width, height],
      bytes: 6 * extent[0] * extent[1],
    };
  }

  /** Fill the canvas with a picture that goes on, blurred and ever darker: mirrored, or with the colors of its edges (`plain`). */
  #beyond(
    /** @type {{image: Image, map: number[], plain: boolean}} */ { image, map, plain },
    /** @type {Target} */ target,
  ) {
    const { gl } = this,
      use = this.programs.beyond,
      [a, b, c, d, e, f] = inverse(map);
    gl.disable(gl.BLEND);
    gl.useProgram(use.program);
    this.#corners(use, target.size, { ...target, map: [1, 0, 0, 1, 0, 0] });
    gl.uniformMatrix3fv(use.at.back, false, [a, c, 0, b, d, 0, e, f, 1]);
    gl.uniform2fv(use.at.extent, image.extent);
    gl.uniform3f(use.at.ground, BACKGROUND[0], BACKGROUND[1], BACKGROUND[2]);
    gl.uniform1i(use.at.image, 0);
    gl.uniform1i(use.at.plain, Number(plain));
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, image.texture ?? null);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.LINEAR_MIPMAP_LINEAR);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  /** Return the canvas as it is drawn next: RGB, rows from the top. */
  read() {
    const {
      gl,
      canvas: { width, height },
    } = this;
    const below = new Uint8Array(width * height * 4),
      pixels = new Uint8Array(width * height * 3);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, below);
    for (let y = 0, to = 0; y < height; y++) {
      for (let x = 0, from = (height - 1 - y) * width * 4; x < width; x++, from++) {
        pixels[to++] = below[from++];
        pixels[to++] = below[from++];
        pixels[to++] = below[from++];
      }
    }
    return pixels;
  }

  #image(/** @type {Image} */ image, /** @type {Target} */ { map, size, flip }) {
    const { gl } = this,
      use = this.programs.image;
    gl.useProgram(use.program);
    this.#corners(use, image.size, { map, size, flip });
    gl.uniform2fv(use.at.extent, image.extent);
    gl.uniform1i(use.at.image, 0);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, image.texture ?? null);
    // Pixels that lie on pixels are copied; between pixels, colors are interpolated.
    const aligned =
      image.step === 1 &&
      [map[0] - 1, map[1], map[2], map[3] - 1].every((part) => Math.abs(part) < 1e-6);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, aligned ? gl.NEAREST : gl.LINEAR);
    gl.texParameteri(
      gl.TEXTURE_2D,
      gl.TEXTURE_MIN_FILTER,
      aligned ? gl.NEAREST : gl.LINEAR_MIPMAP_LINEAR,
    );
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  #corners(
    /** @type {Program} */ { at },
    /** @type {number[]} */ size,
    /** @type {Target} */ { map: [a, b, c, d, e, f], size: canvas, flip },
  ) {
    const { gl } = this;
    gl.uniform2fv(at.size, size);
    gl.uniform2fv(at.canvas, canvas);
    gl.uniform1f(at.flip, flip);
    gl.uniformMatrix3fv(at.map, false, [a, c, 0, b, d, 0, e, f, 1]);
  }

  #colors(
    /** @type {Picture|null} */ picture,
    /** @type {Plane} */ plane,
    /** @type {Target} */ target,
    /** @type {Shown} */ { exact, phase },
  ) {
    if (!picture) return;
    this.#upload(picture);
    const { gl } = this,
      use = this.programs.colors,
      { at } = use;
    const values = (plane === "coarse" ? picture.coarse?.layers : picture.fine) && picture.colors;
    const shown = plane === "fine" && exact && picture.exact;
    if (!values && !shown) return;
    gl.useProgram(use.program);
    this.#corners(use, picture.size, target);
    const units = {
      values: (values && this.textures[plane]?.texture) || this.nothing,
      exact: (shown && this.textures.exact?.texture) || this.blank,
      tables: this.tables?.texture ?? this.blank,
      encoding: this.encoding,
    };
    Object.entries(units).forEach(([name, texture], unit) => {
      gl.activeTexture(gl.TEXTURE0 + unit);
      gl.bindTexture(name === "values" ? gl.TEXTURE_2D_ARRAY : gl.TEXTURE_2D, texture ?? null);
      gl.uniform1i(at[name], unit);
    });
    const layers = picture.colors?.layers ?? [];
    gl.uniform1i(at.step_, (plane === "coarse" && picture.coarse?.step) || 1);
    gl.uniform1i(at.layers, layers.length);
    gl.uniform1i(at.planes, picture.colors?.planes ?? 1);
    gl.uniform1i(at.has_exact, shown ? 1 : 0);
    gl.uniform1i(at.has_values, values ? 1 : 0);
    if (values) {
      const spread = layers.map((layer, k) => [
        layer.density,
        offsetOf(layer, phase),
        layer.entries,
        this.tables?.first[k] ?? 0,
      ]);
      gl.uniform4fv(at.numbers, spread.flat());
      const number = (/** @type {string} */ blend) => Math.max(0, BLENDS.indexOf(blend)),
        { groups } = values;
      gl.uniform4iv(
        at.ways,
        layers.flatMap(({ cyclic, blend, group, mask }) => [
          cyclic ? 1 : 0,
          number(blend),
          group ?? -1,
          mask ?? -1,
        ]),
      );
      if (groups.length)
        gl.uniform4fv(
          at.groups,
          groups.flatMap(({ blend, opacity, mask, outer }) => [
            number(blend),
            opacity,
            mask ?? -1,
            outer ?? -1,
          ]),
        );
      gl.uniform1fv(
        at.opacities,
        layers.map(({ opacity }) => opacity ?? 1),
      );
    }
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  /** Bring what is new into the textures of the newest picture. */
  #upload(/** @type {Picture} */ picture) {
    const { changes, coarse, fine, exact, size } = picture;
    if (this.picture !== picture) {
      picture.restore();
      this.picture = picture;
      this.#upload(picture);
      return;
    }
    if (changes.coarse && coarse?.layers)
      this.#layers("coarse", [coarse.w, coarse.h], coarse.layers);
    if (changes.fine && fine) this.#layers("fine", size, fine);
    if (changes.exact && exact)
      this.#tile("exact", size, {
        x: 0,
        y: 0,
        w: size[0],
        h: size[1],
        data: /** @type {Uint8Array} */ (exact), // images are for plain canvases
      });
    for (const tile of changes.tiles) this.#tile(tile.plane, size, tile);
    picture.changes = { coarse: false, fine: changes.fine && !fine, exact: !exact, tiles: [] };
    if (picture.colors && this.tables?.of !== picture.colors) this.#uploadTables(picture.colors);
  }

  #layers(
    /** @type {Plane} */ name,
    /** @type {number[]} */ [w, h],
    /** @type {Float32Array[]} */ layers,
  ) {
    layers.forEach((data, layer) =>
      this.#tile(name, [w, h], { layer, x: 0, y: 0, w, h, data }, layers.length),
    );
  }

  #tile(
    /** @type {Plane} */ name,
    /** @type {number[]} */ size,
    /** @type {import("./picture.js").Tile} */ { layer = 0, x, y, w, h, data },
    count = this.textures[name]?.count ?? 0,
  ) {
    const { gl } = this,
      flat = name === "exact",
      kind = flat ? gl.TEXTURE_2D : gl.TEXTURE_2D_ARRAY;
    let known = this.textures[name];
    gl.activeTexture(gl.TEXTURE0);
    if (!known || known.size.join() !== size.join() || known.count !== count) {
      if (known) gl.deleteTexture(known.texture);
      known = this.textures[name] = { texture: this.#texture(kind, gl.NEAREST), size, count };
      if (flat) gl.texStorage2D(kind, 1, gl.RGBA8, size[0], size[1]);
      else gl.texStorage3D(kind, 1, gl.R32F, size[0], size[1], count);
    }
    gl.bindTexture(kind, known.texture);
    if (flat) gl.texSubImage2D(kind, 0, x, y, w, h, gl.RGBA, gl.UNSIGNED_BYTE, data);
    else gl.texSubImage3D(kind, 0, x, y, layer, w, h, 1, gl.RED, gl.FLOAT, data);
  }

  #uploadTables(/** @type {import("./picture.js").Colors} */ colors) {
    const { gl } = this,
      first = /** @type {number[]} */ ([]);
    let rows = 0;
    for (const table of colors.tables) {
      first.push(rows);
      rows += Math.ceil(table.length / 3 / TABLE_WIDTH);
    }
    const texels = new Float32Array(TABLE_WIDTH * rows * 4);
    colors.tables.forEach((table, k) => {
      for (let from = 0, to = first[k] * TABLE_WIDTH * 4; from < table.length; to++) {
        for (let channel = 0; channel < 3; channel++) texels[to++] = table[from++] / 65535;
      }
    });
    if (this.tables) gl.deleteTexture(this.tables.texture);
    gl.activeTexture(gl.TEXTURE0);
    const texture = this.#texture(gl.TEXTURE_2D, gl.NEAREST);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, TABLE_WIDTH, rows, 0, gl.RGBA, gl.FLOAT, texels);
    this.tables = { of: colors, texture, first };
  }

  /** Return a texture of a size, with its mipmaps, that the next calls draw to. */
  #drawnTo(/** @type {number[]} */ [width, height]) {
    const { gl } = this,
      texture = this.#texture(gl.TEXTURE_2D, gl.LINEAR, gl.LINEAR_MIPMAP_LINEAR),
      levels = 1 + Math.floor(Math.log2(Math.max(width, height)));
    gl.texStorage2D(gl.TEXTURE_2D, levels, gl.RGBA8, width, height);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.buffer ?? null);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
    return texture;
  }

  #texture(/** @type {number} */ kind, /** @type {number} */ mag, min = mag) {
    const { gl } = this,
      texture = gl.createTexture();
    gl.bindTexture(kind, texture);
    gl.texParameteri(kind, gl.TEXTURE_MAG_FILTER, mag);
    gl.texParameteri(kind, gl.TEXTURE_MIN_FILTER, min);
    gl.texParameteri(kind, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
    gl.texParameteri(kind, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
    return texture;
  }
}

/** Return density * c0 + offset, modulo 1 where the palette is cyclic: c0 needs doubles. */
function offsetOf(
  /** @type {Received.ShownLayer} */ { density, c0, offset, cyclic },
  /** @type {number} */ phase,
) {
  const sum = density * c0 + offset + (cyclic ? phase : 0);
  return cyclic && Math.abs(sum) < 1e9 ? sum - Math.floor(sum) : sum;
}

/** @param {WebGL2RenderingContext} gl @param {string} vertex @param {string} fragment @returns {Program} */
function program(gl, vertex, fragment) {
  const made = /** @type {WebGLProgram} */ (gl.createProgram());
  for (const [kind, text] of /** @type {[number, string][]} */ ([
    [gl.VERTEX_SHADER, vertex],
    [gl.FRAGMENT_SHADER, fragment],
  ])) {
    const shader = gl.createShader(kind);
    if (!shader) continue; // the context is lost
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(
      gl
        .getAttachedShaders(made)
        ?.map((each) => gl.getShaderInfoLog(each))
        .join("\n"),
    );
  }
  const at = /** @type {Program["at"]} */ ({});
  for (let k = gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS) - 1; k >= 0; k--) {
    const name = gl.getActiveUniform(made, k)?.name.replace("[0]", "");
    if (name) at[name] = gl.getUniformLocation(made, name);
  }
  return { program: made, at };
}
