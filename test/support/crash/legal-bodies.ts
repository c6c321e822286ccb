import { connect } from 'node:net';

/** A body that the edge may not refuse for its size or its structure, made to keep a server busy. */
export interface LegalBody {
  readonly name: string;
  /** The path below `api/v1`. */
  readonly path: string;
  /** Made when it is sent, because all of them together would take a gigabyte. */
  readonly make: () => Buffer;
}

/** The effect of one body on the server. */
export interface BodyStall {
  readonly name: string;
  readonly bytes: number;
  readonly status: number;
  /** The longest time in milliseconds for which the event loop of this process did nothing else. */
  readonly stallMs: number;
}

/** The default limits: the largest body, and the most characters of `{`, `[`, `,` and `:` in it. */
const MAX_BYTES = 52_428_800;
const MAX_STRUCTURE = 210_000;

/** Bodies at the limits of what is accepted: long texts of all kinds, many names, many levels, odd numbers. */
export const LEGAL_BODIES: readonly LegalBody[] = [
  ...['a', 'é', '中', '😀', '\\u0041', '\\u4e2d', '\\ud800', '\\u0000', '\\"', '\\n', '[{,:'].map((unit) =>
    text(
      `text of ${unit}`,
      'send/sms',
      (long) => `{"signature":"INFOS","number":["22670000000"],"content":"${long}"}`,
      unit,
    ),
  ),
  text(
    'text with another ending',
    'send/sms',
    (long) => `{"signature":"INFOS","number":["22670000000"],"content":"${long}😀"}`,
    'a',
  ),
  text('quote', 'sms/quote', (long) => `{"number":["22670000000"],"content":"${long}"}`, 'a'),
  text('signature', 'send/sms', (long) => `{"signature":"${long}","number":["22670000000"],"content":"x"}`, '😀'),
  text('number', 'send/sms', (long) => `{"signature":"INFOS","number":["${long}"],"content":"x"}`, '7'),
  text('service', 'send/otp', (long) => `{"service":"${long}","number":"22670000000"}`, '😀'),
  text('channel', 'send/otp', (long) => `{"service":"x","number":"22670000000","channel":"${long}"}`, 'É'),
  text('code', 'verify/otp', (long) => `{"service":"x","number":"22670000000","otp":"${long}x"}`, '7'),
  text(
    'unknown field',
    'send/sms',
    (long) => `{"signature":"nobody","number":["22670000000"],"content":"x","${long}":0}`,
    '中',
  ),
  text('white space', 'verify/otp', (long) => `{"x":0${long}}`, ' '),
  text('digits of a number', 'verify/otp', (long) => `{"x":${long}}`, '1'),
  structure('empty objects', (count) => `{"x":[${list(count / 2, () => '{}')}]}`),
  structure('objects with one name', (count) => `{"x":[${list(count / 4, () => '{"a":0}')}]}`),
  structure(
    'objects with many names',
    (count) => `{"x":[${list(count / 200, (one) => `{${list(100, (at) => `"${one}_${at}":0`)}}`)}]}`,
  ),
  structure('names', (count) => `{${list(count / 2, (at) => `"k${at}":0`)}}`),
  structure('long names', (count) => `{${list(count / 2, (at) => `"${'k'.repeat(480)}${at}":0`)}}`),
  structure('names made of digits', (count) => `{${list(count / 2, (at) => `"${digits(at)}":0`)}}`),
  structure('texts made of digits', (count) => `{"x":[${list(count, (at) => `"${digits(at)}"`)}]}`),
  structure('one name', (count) => `{${list(count / 2, () => '"a":0')}}`),
  structure('__proto__', (count) => `{${list(count / 3, () => '"__proto__":{}')}}`),
  structure('levels of lists', (count) => `{"x":[${list(count / 1000, () => '['.repeat(990) + ']'.repeat(990))}]}`),
  structure(
    'levels of objects',
    (count) => `{"x":[${list(count / 2000, () => `${'{"a":'.repeat(990)}0${'}'.repeat(990)}`)}]}`,
  ),
  structure('long numbers', (count) => `{"x":[${list(count, (at) => `1.${at}${'7976931348623157'.repeat(14)}`)}]}`),
];

/**
 * Sends each body to a service that runs in this process, once without and once under an Idempotency-Key, and measures
 * for how long nothing else could run meanwhile. The client is in this process too, and its bytes exist already.
 * @param key an API key of an account
 */
export async function stallsOfLegalBodies(
  port: number,
  key: string,
  bodies: readonly LegalBody[] = LEGAL_BODIES,
): Promise<readonly BodyStall[]> {
  const stalls: BodyStall[] = [];
  for (const { name, path, make } of bodies) {
    for (const once of [undefined, `legal-${name.replace(/[^a-z]/g, '-')}`]) {
      const body = make();
      if (body.length > MAX_BYTES) throw new Error(`${name} is no legal body: ${body.length} bytes`);
      const gaps = new LoopGaps();
      const status = await send(port, path, key, once, body);
      const stallMs = gaps.stop();
      stalls.push({ name: once === undefined ? name : `${name}, keyed`, bytes: body.length, status, stallMs });
    }
  }
  return stalls;
}

/** The longest time for which the event loop was blocked. */
class LoopGaps {
  #longest = 0;
  #last = performance.now();
  readonly #timer = setInterval(() => this.#note(), 1);

  #note(): void {
    const now = performance.now();
    this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
  }

  stop(): number {
    this.#note();
    clearInterval(this.#timer);
    return Math.round(this.#longest);
  }
}

function send(port: number, path: string, key: string, once: string | undefined, body: Buffer): Promise<number> {
  const head = [
    `POST /api/v1/${path} HTTP/1.1`,
    'Host: 127.0.0.1',
    `X-Api-Key: ${key}`,
    ...(once === undefined ? [] : [`Idempotency-Key: ${once}`]),
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Connection: close',
    '\r\n',
  ].join('\r\n');
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(head);
      socket.write(body);
    });
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text;
    });
    // A server that refuses a body before its end may close the connection while the body is still being written.
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])));
  });
}

function text(what: string, path: string, around: (long: string) => string, unit: string): LegalBody {
  const make = (): Buffer => {
    const capacity = MAX_BYTES - Buffer.byteLength(around(''));
    return Buffer.from(around(unit.repeat(Math.floor(capacity / Buffer.byteLength(unit)))));
  };
  return { name: what, path, make };
}

function structure(name: string, around: (count: number) => string): LegalBody {
  // Refused for its signature, which is checked after the fingerprint.
  const send = '{"signature":"nobody","number":["22670000000"],"content":"x",';
  return { name, path: 'send/sms', make: () => Buffer.from(send + around(MAX_STRUCTURE - 10).slice(1)) };
}

function list(count: number, entry: (at: number) => string): string {
  return Array.from({ length: Math.floor(count) }, (_, at) => entry(at)).join(',');
}

/** Numbers below 2^32 with the same low bits, because V8 used to hash such texts by their value. */
function digits(at: number): string {
  return String(Math.floor(at / 16_380) + ((at % 16_380) + 1) * 262_144);
}
