import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { OpenRequests, RequestContext } from '../../../src/http/request-context.js';

const ROUTE = {
  method: 'POST',
  path: '/api/v1/send/sms',
  intake: true,
  authenticated: true,
  permission: undefined,
  deadline: true,
  waits: false,
  whileClosing: false,
  rawBody: undefined,
};
const SOCKET = new Socket();

function opened(): RequestContext {
  const req = new IncomingMessage(SOCKET);
  return new RequestContext(req, new ServerResponse(req), () => ({}), ROUTE, 0);
}

/** Node's `gc` of the flag, which a test may set while it runs. */
function collector(): (options?: { type: 'minor' }) => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc');
}

/** The bytes of V8's old space. */
function oldBytes(): number {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space')?.space_used_size ?? Number.NaN;
}

test('requests are removed in any order', () => {
  const open = new OpenRequests();
  const requests = Array.from({ length: 7 }, opened);
  for (const each of requests) open.add(each);
  const left = new Set(requests);
  for (const index of [6, 0, 3, 1, 5, 2, 4]) {
    const ended = requests[index] ?? opened();
    open.remove(ended);
    left.delete(ended);
    expect(new Set(open.all())).toEqual(left);
    expect(open.all()).toHaveLength(left.size);
  }
});

test('a request that ended needs no full collection to be forgotten', () => {
  const gc = collector();
  const open = new OpenRequests();
  const queue: RequestContext[] = [];
  const turn = () => {
    const context = opened();
    open.add(context);
    queue.push(context);
    const ended = queue.length > 32 ? queue.shift() : undefined;
    if (ended) open.remove(ended);
  };
  for (let count = 0; count < 1000; count++) turn();
  // What is open now is in the old space, and so is what holds it.
  gc();
  const before = oldBytes();
  for (let count = 0; count < 20_000; count++) {
    turn();
    if (count % 2000 === 0) gc({ type: 'minor' });
  }
  // What is open, and what other suites in the process left, takes up to 2.5 MB; all requests that ended take 26 MB.
  expect(oldBytes() - before).toBeLessThan(6_000_000);
});
