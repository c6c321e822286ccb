import { decode, encode } from '@jridgewell/sourcemap-codec';

/** What a stack frame may stand at: a call, `new`, `throw`, `await`. */
const FRAME = /^(?:(?:new|throw|await)\b|#?[\w$]+\s*(?:\?\.)?\()/;

const KEYWORDS = '(?:abstract|class|const|declare|enum|export|function|get|interface|readonly|set|static|type) ';

/** What stands before a name that a declaration declares: the beginning of the line or of a member, then keywords. */
const BEFORE_NAME = new RegExp(`^(?!import )(?:.*[{;])?\\s*(?:${KEYWORDS})*$`);

/** Such a name. A private one is seen by nobody. */
const NAME = new RegExp(`^(?!${KEYWORDS}|(?:import|private) )[\\w$"'[]`);

/**
 * Keeps of a code's map the beginning of each line of the source, and the places that stack frames name: half of its size.
 * Other places lead to their line.
 *
 * @param json the map, as a text
 * @param code what it is the map of
 */
export function thinCodeMap(json, code) {
  let [source, line] = [];
  return thin(json, code, (_, after, to) => {
    const isNew = to[0] !== source || to[1] !== line;
    if (!isNew && !FRAME.test(after)) return false;
    [source, line] = to;
    return true;
  });
}

/**
 * Keeps of a declaration's map the names that it declares, which "go to definition" asks for: a fifth of its size.
 *
 * @param json the map, as a text
 * @param code the declaration
 */
export function thinDeclarationMap(json, code) {
  return thin(json, code, (before, after) => NAME.test(after) && BEFORE_NAME.test(before));
}

/** The suites of contracts are read as they are in `dist`: their sources are not in the package. Readers of assets have none. */
export function isMapped(path) {
  return !/^testing\/|\/asset(\.js)?$/.test(path);
}

/** Takes the name of its map from a file. */
export function withoutMap(code) {
  return code.replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
}

/** @param keeps says, of the text of the line before and after a place, and of where it leads, whether it stays */
function thin(json, code, keeps) {
  const { version, file, sources, mappings } = JSON.parse(json);
  const lines = code.split('\n');
  const kept = decode(mappings).map((segments, index) =>
    segments.flatMap(([column, ...to]) => {
      const text = lines[index];
      if (to.length === 0 || !keeps(text.slice(0, column), text.slice(column, column + 100), to)) return [];
      // Without the fifth, the index of a name.
      return [[column, ...to.slice(0, 3)]];
    }),
  );
  return JSON.stringify({ version, file, names: [], sources, mappings: encode(kept) });
}
