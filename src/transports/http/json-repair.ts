/** Characters that may follow a backslash in JSON, besides `u`. */
const ESCAPED = '"\\/bfnrt';

/**
 * Repairs a JSON document of a gateway that writes JSON with a template or with another language's printer. It repairs line ends
 * and tabs within strings, wrong escapes, strings in single quotes, commas before the end of a list, `NaN`, `None`, NUL after the
 * end, and a function call around the document (JSONP). The result may still be invalid, which the parser decides. The time is
 * proportional to the length.
 */
export function repairedJson(document: string): string {
  const [, text = document] = /^\s*[A-Za-z_$][\w$.]*\s*\(([\s\S]*)\)[\s;]*$/.exec(document) ?? [];
  const pieces: string[] = [];
  let at = 0;
  while (at < text.length) {
    const quote = text[at];
    if (quote === '"' || quote === "'") {
      const string = stringAt(text, at, quote);
      pieces.push(string.json);
      at = string.end;
      continue;
    }
    OUTSIDE.lastIndex = at;
    const [outside = ''] = OUTSIDE.exec(text) ?? [];
    pieces.push(repairedOutside(outside));
    at += outside.length;
  }
  return pieces.join('');
}

/** Matches the text up to the next string. */
const OUTSIDE = /[^"']+/y;

function repairedOutside(text: string): string {
  return text
    .replaceAll('\0', '')
    .replace(/,(?=\s*[\]}])/g, '')
    .replace(/-?\b(?:NaN|Infinity|None|undefined)\b/g, 'null')
    .replace(/\b(?:True|False)\b/g, (word) => word.toLowerCase());
}

/** Returns the string that begins at `start`, written as JSON, and the position of its end. */
function stringAt(text: string, start: number, quote: string): { readonly json: string; readonly end: number } {
  let json = '"';
  let at = start + 1;
  for (; at < text.length && text[at] !== quote; at++) {
    const character = text.charAt(at);
    if (character === '\\') {
      const next = text.charAt(at + 1);
      const isUnicode = next === 'u' && /^[0-9a-f]{4}$/i.test(text.slice(at + 2, at + 6));
      const isEscape = isUnicode || (next !== '' && ESCAPED.includes(next));
      // `\'` is an apostrophe in other languages. A backslash before any other character means itself.
      json += isEscape ? character + next : next === "'" ? next : '\\\\';
      if (isEscape || next === "'") at++;
    } else if (character === '"') json += '\\"';
    else json += character < ' ' ? JSON.stringify(character).slice(1, -1) : character;
  }
  return { json: at < text.length ? `${json}"` : json, end: at + 1 };
}
