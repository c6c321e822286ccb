import { createHash } from 'node:crypto';
import { once } from '../common/concurrency/once.js';
import { DELIVERY_STATES } from '../events/delivery-status.js';
import { readAsset } from './asset.js';

/** What the page knows about its application. */
interface PagePlace {
  /** Where the sandbox is mounted, without slashes at its ends. */
  readonly path: string;
  /** Where the messaging API is mounted, without slashes at its ends. */
  readonly apiPath: string;
  /** Address of the API document; undefined when there is none. */
  readonly docs?: string | undefined;
  /** Returns the key for the command that the page offers; undefined when it has none to show. */
  readonly apiKey?: (() => string | undefined) | undefined;
}

/** The page of one mounted sandbox. */
export class SandboxPage {
  constructor(private readonly place: PagePlace) {}

  /**
   * Returns the whole page. The document holds no messages; its script fetches them. What the page knows about the application is in
   * attributes of `<body>`, where the script reads it.
   *
   * @param local whether the request comes from this machine; other requests do not get the key
   */
  html(local: boolean): string {
    const { path, apiPath, docs = '', apiKey } = this.place;
    const key = (local && apiKey?.()) || '';
    const data = { path, api: apiPath, docs, key };
    const attributes = Object.entries(data).map(([name, value]) => `data-${name}="${attribute(value)}"`);
    return pageFiles().html.replace('<body>', () => `<body ${attributes.join(' ')}>`);
  }
}

/**
 * The page's Content-Security-Policy: only its own style and script, named by their hashes, and requests and files only of its
 * own server. A message therefore cannot run or load anything, even if it were parsed as markup.
 */
export function pagePolicy(): string {
  return pageFiles().policy;
}

/** In cascade order. */
const STYLES = ['base.css', 'phones.css', 'reply.css', 'codes.css', 'empty.css', 'hooks.css', 'dialog.css'];

/**
 * In execution order. The files share one scope: a later file uses the functions of earlier ones, and all of them use `STATES`, the
 * states of deliveries.
 */
const SCRIPTS = ['texts.js', 'phones.js', 'view.js', 'message.js', 'reply.js', 'codes.js', 'hooks.js', 'live.js'];

/** The document with style and script inlined, and its policy; read from disk and hashed at first use. */
const pageFiles = once(() => {
  const style = `\n${textOf(STYLES)}`;
  const states = `const STATES = ${JSON.stringify(DELIVERY_STATES)};`;
  const script = `\n(() => {\n'use strict';\n${states}\n${textOf(SCRIPTS)}})();\n`;
  return {
    html: textOf(['page.html'])
      .replace('<style></style>', () => `<style>${style}</style>`)
      .replace('<script></script>', () => `<script>${script}</script>`),
    policy: [
      "default-src 'none'",
      `style-src '${hashOf(style)}'`,
      `script-src '${hashOf(script)}'`,
      "connect-src 'self'",
      "img-src 'self' data:",
      "media-src 'self'",
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
