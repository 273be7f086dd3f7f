/** Shaders in GLSL ES 3.0: values to colors as PROTOCOL.md says, and pictures under a map. */

const MAX_LAYERS = 17;
export const DEEPEST = 4; // groups of layers in one another
const MAX_GROUPS = (MAX_LAYERS - 1) * DEEPEST;
export const TABLE_WIDTH = 1024; // entries in a row of the texture of lookup tables
export const LEVELS = 16_384; // of linear light, of the table that encodes sRGB
export const BLENDS = [
  "normal",
  "multiply",
  "screen",
  "overlay",
  "add",
  "soft_light",
  "hard_light",
  "darken",
  "lighten",
  "difference",
  "exclusion",
];

/** A rectangle of pixels under a map; `flip` 1 draws onto the canvas, whose rows run upwards. */
export const CORNERS = `#version 300 es
precision highp float;
uniform vec2 size, canvas;
uniform mat3 map;
uniform float flip;
out vec2 pixel;
void main() {
  pixel = vec2(gl_VertexID % 2, gl_VertexID / 2) * size;
  vec2 place = (map * vec3(pixel, 1.0)).xy / canvas * 2.0 - 1.0;
  gl_Position = vec4(place.x, flip > 0.5 ? -place.y : place.y, 0.0, 1.0);
}`;

export const IMAGE = `#version 300 es
precision highp float;
uniform sampler2D image;
uniform vec2 extent;
in vec2 pixel;
out vec4 color;
void main() { color = texture(image, pixel / extent); }`;

/** A picture beyond its edges: mirrored at them, or with the edges' own colors (`plain`), the more blurred and the darker the farther away. */
export const BEYOND = `#version 300 es
precision highp float;
uniform sampler2D image;
uniform vec2 extent;
uniform mat3 back;
uniform vec3 ground;
uniform bool plain;
in vec2 pixel;
out vec4 color;
void main() {
  vec2 place = (back * vec3(pixel, 1.0)).xy / extent;
  vec2 outside = max(abs(place - 0.5) - 0.5, 0.0) * extent / min(extent.x, extent.y);
  float far = length(outside);
  vec2 texels = vec2(textureSize(image, 0));
  float level = max(0.0, log2(min(texels.x, texels.y)) - 5.0 + min(1.0, 4.0 * far)); // 32 texels at the edge, 16 farther out
  vec2 texel = 0.5 * exp2(level) / texels, inner = plain ? clamp(place, 0.0, 1.0) : 1.0 - abs(1.0 - mod(place, 2.0));
  vec4 seen = vec4(0.0);
  for (int k = 0; k < 4; k++) seen += textureLod(image, inner + texel * vec2(k % 2 * 2 - 1, k / 2 * 2 - 1), level);
  color = vec4(mix(seen.rgb / max(seen.a, 0.01), ground, smoothstep(0.0, 1.2, far)), 1.0);
}`;

export const COLORS = `#version 300 es
precision highp float; precision highp int;
precision highp sampler2D; precision highp sampler2DArray; precision highp usampler2D;
uniform sampler2DArray values;
uniform sampler2D exact, tables;
uniform usampler2D encoding;
uniform vec4 numbers[${MAX_LAYERS}]; // density, density * c0 + offset, entries, first row
uniform ivec4 ways[${MAX_LAYERS}];   // cyclic, blend, group or -1, plane of the mask or -1
uniform vec4 groups[${MAX_GROUPS}];  // blend, opacity, plane of the mask or -1, the group that it is in or -1
uniform float opacities[${MAX_LAYERS}];
uniform int layers, planes, step_, has_exact, has_values;
in vec2 pixel;
out vec4 color;

vec3 entry(int layer, int k) {
  int first = int(numbers[layer].w);
  return texelFetch(tables, ivec2(k % ${TABLE_WIDTH}, first + k / ${TABLE_WIDTH}), 0).rgb;
}

vec3 colored(int layer, float value) {
  int entries = int(numbers[layer].z);
  float t = numbers[layer].x * value + numbers[layer].y;
  if (!(abs(t) < 1e9)) t = 0.0;
  t = ways[layer].x == 1 ? t - floor(t) : clamp(t, 0.0, 1.0);
  float place = t * float(entries);
  int k = min(int(place), entries - 1);
  vec3 low = entry(layer, k);
  return low + (place - float(k)) * (entry(layer, k + 1) - low);
}

float soft(float b, float a) {
  float light = b <= 0.25 ? ((16.0 * b - 12.0) * b + 4.0) * b : sqrt(b);
  return (2.0 * a - 1.0) * (a <= 0.5 ? b - b * b : light - b);
}

vec3 change(int blend, vec3 b, vec3 a) {
  if (blend == 1) return b * a - b;
  if (blend == 2) return a * (1.0 - b);
  if (blend == 3) return mix(1.0 - 2.0 * (1.0 - a) * (1.0 - b), 2.0 * a * b, lessThan(b, vec3(0.5))) - b;
  if (blend == 4) return min(a, 1.0 - b);
  if (blend == 5) return vec3(soft(b.r, a.r), soft(b.g, a.g), soft(b.b, a.b));
  if (blend == 6) return mix(1.0 - 2.0 * (1.0 - a) * (1.0 - b), 2.0 * a * b, lessThan(a, vec3(0.5))) - b;
  if (blend == 7) return min(a - b, 0.0);
  if (blend == 8) return max(a - b, 0.0);
  if (blend == 9) return abs(a - b) - b;
  if (blend == 10) return a - 2.0 * a * b;
  return a - b;
}

float weight(int plane, ivec2 sample_) { return plane < 0 ? 1.0 : texelFetch(values, ivec3(sample_, plane), 0).r; }

vec3 plain(vec4 group) { return min(group.rgb / (group.a > 0.0 ? group.a : 1.0), 1.0); }

// A color over a group of layers, which may be transparent.
vec4 over(vec4 group, int blend, vec3 a, float part) {
  vec3 b = plain(group), own = clamp(a + group.a * (change(blend, b, a) + b - a), 0.0, 1.0);
  return vec4(group.rgb * (1.0 - part) + part * own, group.a + part * (1.0 - group.a));
}

int outer_of(int group) { return group < 0 ? -1 : int(groups[group].w); }

bool within(int group, int other) {
  for (int k = 0; k < ${DEEPEST} && group >= 0; k++, group = outer_of(group)) if (group == other) return true;
  return false;
}

int depth_of(int group) {
  int depth = 0;
  for (int k = 0; k < ${DEEPEST} && group >= 0; k++, group = outer_of(group)) depth++;
  return depth;
}

float encoded(float light) {
  int k = int(clamp(light, 0.0, 1.0) * ${LEVELS - 1}.0 + 0.5);
  return float(texelFetch(encoding, ivec2(k % 128, k / 128), 0).r) / 255.0;
}

void main() {
  ivec2 at = ivec2(floor(pixel));
  if (has_exact == 1) {
    color = texelFetch(exact, at, 0);
    if (color.a > 0.0) return;
  }
  ivec2 sample_ = at / step_;
  float first = has_values == 1 ? texelFetch(values, ivec3(sample_, 0), 0).r : 3.0e38;
  float last = has_values == 1 ? texelFetch(values, ivec3(sample_, planes - 1), 0).r : 3.0e38;
  if (first > 1e38 || last > 1e38) discard;
  vec3 sum = first < -1e38 ? entry(0, int(numbers[0].z) + 1) : colored(0, first);
  if (layers == 1) {
    color = vec4(encoded(sum.r), encoded(sum.g), encoded(sum.b), 1.0);
    return;
  }
  vec4 inner[${DEEPEST}]; // of the groups that are open, from outside
  int open = 0;
  for (int layer = 1; layer < layers; layer++) {
    int group = ways[layer].z, depth = depth_of(group);
    for (; open < depth; open++) inner[open] = vec4(0.0);
    float value = texelFetch(values, ivec3(sample_, layer), 0).r;
    if (value > -1e38) {
      vec3 a = colored(layer, value);
      if (group < 0) sum = clamp(sum + opacities[layer] * change(ways[layer].y, sum, a), 0.0, 1.0);
      else inner[depth - 1] = over(inner[depth - 1], ways[layer].y, a, opacities[layer] * weight(ways[layer].w, sample_));
    }
    int next = layer + 1 < layers ? ways[layer + 1].z : -1;
    for (; open > 0 && !within(next, group); group = outer_of(group)) { // the group ends, and is blended as a whole
      open--;
      int blend = int(groups[group].x);
      vec3 a = plain(inner[open]);
      float part = inner[open].a * groups[group].y * weight(int(groups[group].z), sample_);
      if (open > 0) inner[open - 1] = over(inner[open - 1], blend, a, part);
      else sum = clamp(sum + part * change(blend, sum, a), 0.0, 1.0);
    }
  }
  color = vec4(sum, 1.0);
}`;
