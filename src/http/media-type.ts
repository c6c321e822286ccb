import type { IncomingHttpHeaders } from 'node:http';

/** What clients nearly always send. */
const USUAL = 'application/json';

/** `application/json` with parameters (RFC 9110 section 8.3.1), the media type in any case. */
const JSON_TYPE = /^\s*application\/json\s*(;.*)?$/i;

/** The charset among the parameters, bare or quoted. */
const CHARSET = /;\s*charset\s*=\s*"?([^\s;"]*)/i;

/** Whether a body under these headers is JSON as we read it: UTF-8 (RFC 8259 section 8.1), not compressed. */
export function isPlainJson(headers: IncomingHttpHeaders): boolean {
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'identity') return false;
  const type = headers['content-type'];
  if (type === USUAL) return true;
  if (type === undefined || !JSON_TYPE.test(type)) return false;
  const charset = CHARSET.exec(type)?.[1]?.toLowerCase();
  return charset === undefined || charset === 'utf-8' || charset === 'utf8';
}

/** Whether a body under these headers is a form (`application/x-www-form-urlencoded`). */
export function isForm({ 'content-type': type = '' }: IncomingHttpHeaders): boolean {
  return /^\s*application\/x-www-form-urlencoded\s*(;.*)?$/i.test(type);
}
