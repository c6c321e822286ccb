import { createHash } from 'node:crypto';
import { once } from '../common/once.js';
import { readAsset } from './asset.js';

/** Mount paths that the page needs. */
export interface PagePlace {
  /** Where the sandbox is mounted, without slashes at its ends. */
  readonly path: string;
  /** Where the messaging API is mounted, without slashes at its ends. */
  readonly apiPath: string;
}

/** The page of one mounted sandbox. */
export class SandboxPage {
  /**
   * The whole page: one document that loads nothing else. It holds no message; its script fetches those.
   * The paths are in attributes of `<body>`, where the script reads them.
   */
  readonly html: string;

  constructor({ path, apiPath }: PagePlace) {
    this.html = pageFiles().html.replace(
      '<body data-path="" data-api="">',
      () => `<body data-path="${attribute(path)}" data-api="${attribute(apiPath)}">`,
    );
  }
}

/**
 * The page's Content-Security-Policy: only its own style and script, named by their hashes, and requests only to its own
 * server. A message therefore cannot run or load anything, even if it were parsed as markup.
 */
export function pagePolicy(): string {
  return pageFiles().policy;
}

/** In cascade order. */
const STYLES = ['base.css', 'phones.css', 'codes.css', 'empty.css'];

/** In execution order. The files share one scope: a later file uses the functions of earlier ones. */
const SCRIPTS = ['texts.js', 'phones.js', 'view.js', 'codes.js', 'live.js'];

/** The document with style and script inlined, and its policy; read from disk and hashed at first use. */
const pageFiles = once(() => {
  const style = `\n${textOf(STYLES)}`;
  const script = `\n(() => {\n'use strict';\n${textOf(SCRIPTS)}})();\n`;
  return {
    html: textOf(['page.html'])
      .replace('<style></style>', () => `<style>${style}</style>`)
      .replace('<script></script>', () => `<script>${script}</script>`),
    policy: [
      "default-src 'none'",
      `style-src '${hashOf(style)}'`,
      `script-src '${hashOf(script)}'`,
      "connect-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  };
});

function textOf(names: readonly string[]): string {
  return names.map((name) => readAsset(`page/${name}`).toString()).join('\n');
}

function hashOf(source: string): string {
  return `sha256-${createHash('sha256').update(source).digest('base64')}`;
}

function attribute(value: string): string {
  return value.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
