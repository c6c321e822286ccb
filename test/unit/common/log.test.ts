import { inspect } from 'node:util';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { ConsoleLogger, Logger } from '@nestjs/common';
import { MessagingError, StorageUnavailableError } from '../../../src/common/errors.js';
import { FaultLog, faultCode, faultLog, fromOutside, LogLine, masked } from '../../../src/common/log.js';
import { FakeClock } from '../../../src/testing/fake-clock.js';

let clock: FakeClock;
let lines: LogLine[];
let log: FaultLog;

beforeEach(() => {
  clock = new FakeClock();
  lines = [];
  const say = (line: LogLine) => void lines.push(line);
  log = new FaultLog({ warn: say, error: say }, clock);
});
afterEach(() => {
  jest.restoreAllMocks();
  Logger.overrideLogger(false);
});

const said = () => lines.map(String);

test('a sentence is logged at once, and then once a minute with the number of repeats', () => {
  for (let time = 0; time < 1000; time++) log.warn('Forged.');
  log.warn('Unread.');
  expect(said()).toEqual(['Forged.', 'Unread.']);
  clock.advance(59_999);
  log.warn('Forged.');
  expect(lines).toHaveLength(2);
  clock.advance(1);
  log.warn('Forged.');
  log.warn('Unread.');
  expect(said().slice(2)).toEqual(['Forged. (This happened 1000 more times since it was last logged.)', 'Unread.']);
  expect(lines[2]).toMatchObject({ repeats: 1000 });
  log.warn('Forged.');
  expect(lines).toHaveLength(4);
});

test('another code, channel or route is logged separately; another message, request or detail is not', () => {
  log.warn('Away.', { code: 'a', channel: 'sms', route: 'one', messageId: 'm-1', requestId: 'r-1' }, ' First.');
  log.warn('Away.', { code: 'a', channel: 'sms', route: 'one', messageId: 'm-2', requestId: 'r-2' }, ' Second.');
  log.warn('Away.', { code: 'b', channel: 'sms', route: 'one' });
  log.warn('Away.', { code: 'a', channel: 'msgapp', route: 'one' });
  log.warn('Away.', { code: 'a', channel: 'sms', route: 'two' });
  log.error('Away.', { code: 'a', channel: 'sms', route: 'one' });
  expect(said()).toEqual(['Away. First.', 'Away.', 'Away.', 'Away.', 'Away.']);
});

test('the number of remembered kinds is limited', () => {
  for (let kind = 0; kind < 600; kind++) log.warn(`Kind ${kind}.`);
  log.warn('Kind 599.');
  expect(lines).toHaveLength(600);
  log.warn('Kind 0.');
  expect(lines).toHaveLength(601);
});

test('parts of an application that name the same logger share one fault log', () => {
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  faultLog('Msgapp', clock).warn('Away.');
  faultLog('Msgapp', clock).warn('Away.');
  expect(warn).toHaveBeenCalledTimes(1);
  faultLog('Msgapp', new FakeClock()).warn('Away.');
  expect(warn).toHaveBeenCalledTimes(2);
});

test('a logger that takes objects receives only the fields that have a value', () => {
  log.warn('Away.', { code: 'storage_unavailable', channel: undefined, messageId: 'm-1' });
  expect(Object.entries(lines[0] ?? {})).toEqual([
    ['msg', 'Away.'],
    ['code', 'storage_unavailable'],
    ['messageId', 'm-1'],
  ]);
});

test('Nest’s logger prints one line with the fields that the sentence does not name', () => {
  let printed = '';
  jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    printed += String(chunk);
    return true;
  });
  const console = new ConsoleLogger({ colors: false });
  console.warn(new LogLine('Channel sms: no connection.', { code: 'away', channel: 'sms' }), 'ChannelWorker');
  expect(printed).toMatch(/WARN \[ChannelWorker\] Channel sms: no connection\. \(code away\)\n$/);
  printed = '';
  new ConsoleLogger({ json: true }).warn(new LogLine('Away.', { code: 'away' }), 'ChannelWorker');
  const { message, context } = JSON.parse(printed);
  expect([message, context]).toEqual([{ msg: 'Away.', code: 'away' }, 'ChannelWorker']);
});

test('numbers are masked, ids are not', () => {
  expect(masked('From 22670000001 to +33612345678, code 4711.')).toBe('From 226******01 to +336******78, code 4711.');
  expect(masked('m-01a20761-ed81-7520-8cb5-123456789012')).toBe('m-01a20761-ed81-7520-8cb5-123456789012');
  expect(inspect(new LogLine('22670000001'))).toBe('226******01');
});

test('a fault is named by our code, by the code of the system or database, or by its class', () => {
  expect(faultCode(new StorageUnavailableError('x'))).toBe('storage_unavailable');
  expect(faultCode(new MessagingError('error.timeout'))).toBe('timeout');
  expect(faultCode(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }))).toBe('ECONNREFUSED');
  expect(faultCode(Object.assign(new TypeError('x'), { code: 'the code is 4711' }))).toBe('TypeError');
  expect(faultCode('22670000001')).toBe('something');
});

/** Characters that begin a line, move the cursor or change the direction of writing. */
const CONTROLS = [
  '\n',
  '\r\n',
  '\t',
  '\0',
  '\b',
  '\v',
  '\f',
  '\u001b[2J',
  '\u007f',
  '\u0085',
  '\u009b2J',
  '\u2028',
  '\u2029',
  '\u061c',
  '\u200e',
  '\u200f',
  '\u202e',
  '\u2066',
  '\u2069',
];

test.each(CONTROLS)('text from outside cannot begin a line or move the cursor: %j', (control) => {
  const text = `36111${control}[Nest] 1 - ERROR forged`;
  log.warn('Kind.', { route: text, code: text }, ` To ${text}`);
  const [line] = lines;
  for (const written of [String(line), inspect(line), JSON.stringify(line), fromOutside(text)]) {
    expect(written.replaceAll('\\\\', '\\')).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u);
    expect(written).toContain('forged');
  }
});

test('text from outside is cut, and a surrogate pair is never halved', () => {
  expect(fromOutside('x'.repeat(100))).toBe('x'.repeat(100));
  expect(fromOutside('x'.repeat(101))).toBe(`${'x'.repeat(100)}…`);
  expect(fromOutside(`${'x'.repeat(99)}😀😀`)).toBe(`${'x'.repeat(99)}…`);
});

test('stack frames and the line of a cause keep their own lines', () => {
  const line = new LogLine('Broken.\n    at a (b.js:1:1)\nCaused by: Error: c\n    at d (e.js:1:1)\nnot a frame');
  expect(String(line).split('\n')).toHaveLength(4);
  expect(String(line)).toContain('\\nnot a frame');
});
