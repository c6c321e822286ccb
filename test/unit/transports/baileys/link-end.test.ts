import { describe, expect, test } from '@jest/globals';
import { failureOf, type LinkStage, linkEndOf } from '../../../../src/transports/baileys/link-end.js';

const LINKED: LinkStage = { linked: true, codeShown: false };
const WAITING: LinkStage = { linked: false, codeShown: true };
const FRESH: LinkStage = { linked: false, codeShown: false };

/** Errors as `@hapi/boom` makes them. */
function boom(statusCode: number, data?: unknown): Error {
  return Object.assign(new Error('Stream Errored (22670000001)'), { output: { statusCode }, data });
}

describe('a connection that Baileys ends', () => {
  test.each<[number, LinkStage, object]>([
    [515, LINKED, { next: 'restart', reason: 'restart_required' }],
    [515, WAITING, { next: 'restart', reason: 'restart_required' }],
    [428, LINKED, { next: 'retry', reason: 'connection_closed' }],
    [408, LINKED, { next: 'retry', reason: 'connection_lost' }],
    [408, WAITING, { next: 'give-up', status: 'expired', reason: 'not_scanned' }],
    [408, FRESH, { next: 'retry-few', reason: 'connection_lost' }],
    [503, LINKED, { next: 'retry', reason: 'server_unavailable' }],
    [500, LINKED, { next: 'retry-few', reason: 'stream_error' }],
    [440, LINKED, { next: 'give-up', status: 'replaced', reason: 'replaced' }],
    [401, LINKED, { next: 'give-up', status: 'logged_out', reason: 'login_refused' }],
    [402, LINKED, { next: 'give-up', status: 'banned', reason: 'banned_for_a_time' }],
    [403, LINKED, { next: 'give-up', status: 'banned', reason: 'forbidden' }],
    [406, LINKED, { next: 'give-up', status: 'banned', reason: 'banned' }],
    [405, LINKED, { next: 'give-up', status: 'failed', reason: 'client_version_refused' }],
    [411, LINKED, { next: 'give-up', status: 'failed', reason: 'multi_device_mismatch' }],
    [400, LINKED, { next: 'retry-few', reason: 'code_400' }],
  ])('with %d at %j', (code, stage, end) => {
    expect(linkEndOf(boom(code), stage)).toEqual(end);
  });

  test('distinguishes a device that its owner removed from a login that is refused', () => {
    const conflict = { tag: 'conflict', attrs: { type: 'device_removed' } };
    expect(linkEndOf(boom(401, conflict), LINKED)).toMatchObject({ reason: 'device_removed' });
  });

  test.each<[unknown, string]>([
    [1006, 'socket_closed_1006'],
    [Object.assign(new Error('connect 10.0.0.1'), { code: 'ECONNREFUSED' }), 'ECONNREFUSED'],
    [new TypeError('a number 22670000001'), 'TypeError'],
    ['a string', 'unknown_error'],
    [undefined, 'unknown_error'],
    [Object.assign(new Error('x'), { output: null }), 'Error'],
  ])('with %p, which has no code', (thrown, reason) => {
    expect(failureOf(thrown)).toEqual({ status: undefined, reason });
    expect(linkEndOf(thrown, LINKED)).toEqual({ next: 'retry-few', reason });
  });
});
