import { randomBytes } from 'node:crypto';
import { type BinaryNode, getBinaryNodeChild, S_WHATSAPP_NET } from 'baileys';

export type Stanza = BinaryNode;

export function stanza(tag: string, attrs: Record<string, string>, content?: Stanza['content']): Stanza {
  return content === undefined ? { tag, attrs } : { tag, attrs, content };
}

/** A request or notification from the server to a client. */
export function serverIq(content: Stanza[]): Stanza {
  const id = randomBytes(4).toString('hex');
  return stanza('iq', { from: S_WHATSAPP_NET, type: 'set', id, xmlns: 'md', t: seconds() }, content);
}

/** The answer to a client's query. */
export function result(question: Stanza, content?: Stanza[]): Stanza {
  return stanza('iq', { from: S_WHATSAPP_NET, type: 'result', id: attr(question, 'id') }, content);
}

/** @throws Error if it is missing */
export function attr(node: Stanza, name: string): string {
  const value = node.attrs[name];
  if (value === undefined) throw new Error(`<${node.tag}> has no ${name}.`);
  return value;
}

/** The first child with a name. @throws Error if there is none */
export function child(node: Stanza, tag: string): Stanza {
  const found = getBinaryNodeChild(node, tag);
  if (!found) throw new Error(`<${node.tag}> has no <${tag}>.`);
  return found;
}

export function firstChild(node: Stanza): Stanza | undefined {
  return Array.isArray(node.content) ? node.content[0] : undefined;
}

/** The content as bytes. @throws Error if it has children instead */
export function bytesOf(node: Stanza): Buffer {
  if (Array.isArray(node.content)) throw new Error(`<${node.tag}> holds children, not bytes.`);
  return Buffer.from(node.content ?? '');
}

/** The content as a number, most significant byte first. */
export function uintOf(node: Stanza): number {
  return uint(bytesOf(node));
}

export function uint(bytes: Uint8Array | null | undefined): number {
  const buffer = Buffer.from(bytes ?? []);
  return buffer.readUIntBE(0, buffer.length);
}

/** The current time, as stanzas write it. */
export function seconds(): string {
  return String(Math.floor(Date.now() / 1000));
}
