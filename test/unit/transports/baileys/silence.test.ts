import { EventEmitter } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { guardListeners } from '../../../../src/transports/baileys/baileys-link.js';
import { guardConsole, quietLogger } from '../../../../src/transports/baileys/quiet-logger.js';
import { settled } from '../../../support/common/settled.js';

class Notes extends Logger {
  readonly lines: unknown[] = [];

  override debug(line: unknown): void {
    this.lines.push(line);
  }
}

describe('the log of Baileys', () => {
  test('says what happened, without keys, numbers or ids', () => {
    const notes = new Notes();
    const logger = quietLogger(notes);
    logger.child({ class: 'x' }).error({ noiseKey: 'secret' }, 'stream errored out');
    logger.warn('failed for 22670000001@s.whatsapp.net with 3EB0A1B2C3D4E5F6A7B8C9');
    logger.warn({ privKey: 'secret' });
    logger.info({}, 'logging in');
    logger.debug('sending');
    logger.trace('frame');
    expect(notes.lines).toEqual(['stream errored out', 'failed for … with …', 'something went wrong']);
  });
});

describe('the console', () => {
  const original = console.info;

  afterEach(() => {
    console.info = original;
  });

  test('drops the remarks of the Signal library and prints everything else unchanged', () => {
    const printed: unknown[][] = [];
    console.info = (...args: unknown[]) => void printed.push(args);
    const unguard = guardConsole();
    console.info('Closing session:', { privKey: 'secret' });
    class SessionEntry {}
    console.info('Anything', new SessionEntry());
    console.info('Session error: Bad MAC', 'stack');
    console.info('Closing time', 5);
    console.info({ an: 'object' });
    unguard();
    console.info('Closing session:', 'as before');
    expect(printed).toEqual([['Closing time', 5], [{ an: 'object' }], ['Closing session:', 'as before']]);
  });

  test('keeps a function that somebody else installed later', () => {
    const printed: unknown[][] = [];
    console.info = (...args: unknown[]) => void printed.push(args);
    const unguard = guardConsole();
    const ours = console.info;
    console.info = (...args: unknown[]) => ours('host:', ...args);
    const hosts = console.info;
    unguard();
    expect(console.info).toBe(hosts);
    console.info('Closing session:');
    expect(printed).toEqual([['host:', 'Closing session:']]);
  });

  test('is guarded until the last transport stops', () => {
    const printed: unknown[][] = [];
    console.info = (...args: unknown[]) => void printed.push(args);
    const [first, second] = [guardConsole(), guardConsole()];
    first();
    console.info('Closing session:', 'x');
    expect(printed).toEqual([]);
    second();
    console.info('Closing session:', 'y');
    expect(printed).toEqual([['Closing session:', 'y']]);
  });
});

test('if a listener throws or rejects, the error is reported and the other listeners are still called', async () => {
  const emitter = new EventEmitter();
  const called: unknown[] = [];
  const failed: unknown[] = [];
  emitter.on('frame', () => {
    throw new Error('at once');
  });
  emitter.on('frame', async () => {
    throw new Error('later');
  });
  emitter.on('frame', (...args: unknown[]) => called.push(args));
  guardListeners(emitter, (event, error) => failed.push([event, error instanceof Error ? error.message : error]));
  emitter.emit('frame', 1, 2);
  await settled();
  expect(called).toEqual([[1, 2]]);
  expect(failed).toEqual([
    ['frame', 'at once'],
    ['frame', 'later'],
  ]);
});
