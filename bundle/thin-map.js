import { decode, encode } from '@jridgewell/sourcemap-codec';

/** What a stack frame may stand at: a call, `new`, `throw`, `await`. */
const FRAME = /^(?:(?:new|throw|await)\b|#?[\w$]+\s*(?:\?\.)?\()/;

/**
 * Keeps of a map the beginning of each line of the source, and the places that stack frames name: half of its size. Other
 * places lead to their line.
 *
 * @param json the map, as a text
 * @param code what it is the map of
 */
export function thinMap(json, code) {
  const { version, file, sources, mappings } = JSON.parse(json);
  const lines = code.split('\n');
  const kept = decode(mappings).map((segments, index) => {
    let [source, line] = [];
    return segments.flatMap(([column, ...to]) => {
      const isNew = to[0] !== source || to[1] !== line;
      if (to.length === 0 || !(isNew || FRAME.test(lines[index].slice(column, column + 100)))) return [];
      [source, line] = to;
      // Without the fifth, the index of a name.
      return [[column, ...to.slice(0, 3)]];
    });
  });
  return JSON.stringify({ version, file, names: [], sources, mappings: encode(kept) });
}
