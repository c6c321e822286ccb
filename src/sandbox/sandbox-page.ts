import { createHash } from 'node:crypto';
import { once } from '../common/concurrency/once.js';
import { DELIVERY_STATES } from '../events/delivery-status.js';
import { readAsset } from './asset.js';

/** The facts about its application that the page contains. */
interface PagePlace {
  /** The path under which the sandbox is mounted, without slashes at its ends. */
  readonly path: string;
  /** The path under which the messaging API is mounted, without slashes at its ends. */
  readonly apiPath: string;
  /** The address of the API document. Undefined if there is none. */
  readonly docs?: string | undefined;
  /** Returns the key for the command that the page offers. Undefined if there is no key to show. */
  readonly apiKey?: (() => string | undefined) | undefined;
}

/** The page of one mounted sandbox. */
export class SandboxPage {
  constructor(private readonly place: PagePlace) {}

  /**
   * Returns the whole page. The document contains no messages, because its script fetches them. The facts about the application
   * are in attributes of `<body>`, where the script reads them.
   *
   * @param local whether the request comes from this machine. Other requests do not get the key
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
 * Returns the page's Content-Security-Policy. It allows only the page's own style and script, which it names by their hashes, and
 * only requests and files of its own server. So a message cannot run or load anything, even if it were parsed as markup.
 */
export function pagePolicy(): string {
  return pageFiles().policy;
}

/** The style sheets, in the order of the cascade. */
const STYLES = ['base.css', 'phones.css', 'reply.css', 'codes.css', 'empty.css', 'hooks.css', 'dialog.css'];

/**
 * In execution order. The files share one scope: a later file uses the functions of earlier ones, and all of them use `STATES`, the
 * states of deliveries.
 */
const SCRIPTS = ['texts.js', 'phones.js', 'view.js', 'message.js', 'reply.js', 'codes.js', 'hooks.js', 'live.js'];

/**
 * Returns the document with its style and script inlined, and its policy. The files are read from disk and hashed at the first
 * use.
 */
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
