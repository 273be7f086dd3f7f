/** Draws pictures without WebGL2: sRGB pixels of the server, onto a 2D canvas. */

export class PlainRenderer {
  values = false;
  lost = false;

  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.planes = {};
  }

  draw(under, picture, { map, coarse, exact }) {
    const { context, canvas } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = "#09090b";
    context.fillRect(0, 0, canvas.width, canvas.height);
    let below = coarse;
    for (const { image, map: its, above } of under) {
      if (above && below) {
        this.#show(this.#plane(picture, "coarse"), map);
        below = false;
      }
      this.#show(image, its);
    }
    if (!picture) return;
    if (below) this.#show(this.#plane(picture, "coarse"), map);
    if (exact) this.#show(this.#plane(picture, "exact"), map);
  }

  bake(picture) {
    const images = ["coarse", "exact"].map((name) => this.#plane(picture, name)).filter(Boolean);
    this.planes = {};
    return picture.complete ? images.slice(-1) : images;
  }

  free() {}

  read() {
    const { width, height } = this.canvas, { data } = this.context.getImageData(0, 0, width, height);
    return data.filter((_, k) => k % 4 !== 3);
  }

  #show(image, [a, b, c, d, e, f]) {
    if (!image) return;
    this.context.setTransform(a, c, b, d, e, f);
    this.context.imageSmoothingEnabled = Math.abs(a - 1) > 1e-6 || Math.abs(b) > 1e-6;
    this.context.drawImage(image.canvas, 0, 0, ...image.extent);
  }

  /** Bring what is new into a canvas of the newest picture, and return its image. */
  #plane(picture, name) {
    if (this.picture !== picture) {
      this.picture = picture;
      this.planes = {};
      picture.restore();
    }
    const { size, changes } = picture, from = picture[name];
    const data = name === "coarse" ? from?.pixels : from;
    if (!data) return null;
    const step = name === "coarse" ? from.step : 1, [w, h] = name === "coarse" ? [from.w, from.h] : size;
    if (changes[name] || !this.planes[name]) {
      const canvas = Object.assign(document.createElement("canvas"), { width: w, height: h });
      canvas.getContext("2d").putImageData(new ImageData(new Uint8ClampedArray(data), w, h), 0, 0);
      this.planes[name] = { canvas, step, size, extent: [w * step, h * step], bytes: 4 * w * h };
      changes[name] = false;
    } else if (name === "exact") {
      const context = this.planes.exact.canvas.getContext("2d");
      for (const tile of changes.tiles) {
        context.putImageData(new ImageData(new Uint8ClampedArray(tile.data), tile.w, tile.h), tile.x, tile.y);
      }
    }
    if (name === "exact") changes.tiles = [];
    return this.planes[name];
  }
}
