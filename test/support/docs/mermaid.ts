import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { ROOT } from '../sample-app/sample-app.js';

/** What we use of Mermaid. */
interface Mermaid {
  /** @throws (a rejection) when the text is no diagram */
  parse(text: string): Promise<{ readonly diagramType: string }>;
}

class Node {
  get childNodes(): readonly Node[] {
    return [];
  }
  get nextSibling(): Node | null {
    return null;
  }
  get parentNode(): Node | null {
    return null;
  }
  cloneNode(): Node {
    return this;
  }
  remove(): void {}
}

class Element extends Node {}

/**
 * Mermaid's own grammars, as GitHub draws with them. To parse, it asks of a browser only that there seems to be one: its
 * sanitizer hands back a text without `<` as it is, so our pictures hold none.
 */
export function loadMermaid(): Mermaid {
  const nothing = () => null;
  const document = {
    ...{ nodeType: 9, addEventListener: nothing, createElement: nothing, querySelector: nothing },
    ...{ createNodeIterator: nothing, createDocumentFragment: nothing, importNode: nothing },
    ...{ getElementsByTagName: () => [], implementation: { createHTMLDocument: nothing } },
  };
  const window: Record<string, unknown> = { document, Node, Element, console, URL, structuredClone, performance };
  Object.assign(window, { window, setTimeout, clearTimeout, addEventListener: nothing });
  const source = readFileSync(join(ROOT, 'node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js'), 'utf8');
  runInContext(source, createContext(window));
  return window.mermaid as Mermaid;
}
