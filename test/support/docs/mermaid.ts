import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { ROOT } from '../sample-app/sample-app.js';

/** The part of Mermaid that we use. */
interface Mermaid {
  /** @throws (a rejection) if the text is not a diagram */
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
 * Mermaid's own grammars, as GitHub draws with them. Parsing needs no browser, only the appearance of one: the
 * sanitizer returns a text without `<` unchanged, so our pictures contain none.
 */
export function loadMermaid(): Mermaid {
  const nothing = () => null;
  const document = {
    nodeType: 9,
    addEventListener: nothing,
    createElement: nothing,
    querySelector: nothing,
    createNodeIterator: nothing,
    createDocumentFragment: nothing,
    importNode: nothing,
    getElementsByTagName: () => [],
    implementation: { createHTMLDocument: nothing },
  };
  const window: Record<string, unknown> = { document, Node, Element, console, URL, structuredClone, performance };
  Object.assign(window, { window, setTimeout, clearTimeout, addEventListener: nothing });
  const source = readFileSync(join(ROOT, 'node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js'), 'utf8');
  runInContext(source, createContext(window));
  return window.mermaid as Mermaid;
}
