import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { Caller } from '../../../src/client/caller.js';
import { readEvents } from '../../../src/client/event-stream.js';
import { EventRoutes } from '../../../src/client/events.js';
import { MessagingClient } from '../../../src/client/messaging-client.js';
import { type Answer, lost, refused, ScriptedFetch } from '../../support/client/scripted-fetch.js';

const BASE = 'https://api.example.com/api/v1';

/** A response whose body arrives in these pieces and then ends, breaks or stays open silently. */
function streamed(
  pieces: readonly (string | Uint8Array)[],
  then: 'end' | 'break' | 'silence' = 'end',
  left = () => {},
) {
  const encoder = new TextEncoder();
  return new Response(
    new ReadableStream({
      start(controller) {
        for (const piece of pieces) controller.enqueue(typeof piece === 'string' ? encoder.encode(piece) : piece);
        if (then === 'end') controller.close();
      },
      pull(controller) {
        if (then === 'break') controller.error(new TypeError('terminated'));
        else return new Promise(() => {});
      },
      cancel: left,
    }),
  );
}

async function allOf<T>(events: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}

async function read(pieces: readonly (string | Uint8Array)[]) {
  return allOf(readEvents(streamed(pieces), 1_000, undefined));
}

describe('the events of a response', () => {
  test.each<[string, string, object[]]>([
    ['one', 'event: qr\nid: 7\ndata: {}\n\n', [{ type: 'qr', data: '{}', id: '7' }]],
    ['without a type', 'data: a\n\n', [{ type: 'message', data: 'a', id: undefined }]],
    ['over several lines', 'data: a\ndata:b\ndata\n\n', [{ type: 'message', data: 'a\nb\n', id: undefined }]],
    ['one blank is not part of a value', 'data:  a\n\n', [{ type: 'message', data: ' a', id: undefined }]],
    [
      'without data',
      'event: qr\n\nid: 7\n\ndata: a\n\n',
      [
        { type: 'message', data: undefined, id: '7' },
        { type: 'message', data: 'a', id: '7' },
      ],
    ],
    ['that is not finished', 'data: a\n\ndata: b\n', [{ type: 'message', data: 'a', id: undefined }]],
    [
      'behind comments',
      ': open\nretry: 2000\n\n: heartbeat\n\ndata: a:b\n\n',
      [{ type: 'message', data: 'a:b', id: undefined }],
    ],
    [
      'with line ends of Unicode in a text',
      'data: a\u2028b\u2029c\n\n',
      [{ type: 'message', data: 'a\u2028b\u2029c', id: undefined }],
    ],
    ['an id stays', 'id: 7\ndata: a\n\ndata: b\n\n', ['a', 'b'].map((data) => ({ type: 'message', data, id: '7' }))],
  ])('%s', async (_, text, events) => {
    expect(await read([text])).toEqual(events);
  });

  test('are the same for any pieces and any line ends', async () => {
    const text = ': bon\nevent: status\nid: 1\ndata: {"a":"é€😀"}\n\nevent: qr\ndata: b\ndata: c\n\ndata: d\n\n';
    const whole = await read([text]);
    expect(whole).toHaveLength(3);
    const ends = fc.constantFrom('\n', '\r\n', '\r');
    // Whether a CR is a line end of its own depends on the next character.
    const more = ': more\n';
    await fc.assert(
      fc.asyncProperty(ends, fc.array(fc.nat(200), { maxLength: 12 }), async (end, cuts) => {
        const bytes = new TextEncoder().encode((text + more).replaceAll('\n', end));
        const places = [0, ...cuts.filter((cut) => cut <= bytes.length).sort((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((place, index) => bytes.slice(places[index], place));
        expect(await read(pieces)).toEqual(whole);
      }),
    );
  });
});

describe('a stream of events', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  const logged = (...sequences: number[]) =>
    sequences.map((sequence) => `id: ${sequence}\nevent: message.sent\ndata: {"sequence":${sequence}}\n\n`);

  function eventsOf(script: ScriptedFetch) {
    return new EventRoutes(new Caller({ baseUrl: BASE, token: async () => 'jwt', fetch: script.fetch }));
  }

  /** The numbers of the first events of the stream, while the clock advances. */
  async function first(count: number, script: ScriptedFetch): Promise<number[]> {
    const numbers: number[] = [];
    const reading = (async () => {
      for await (const { sequence } of eventsOf(script).stream({ after: 4, types: ['message.sent', 'balance.low'] })) {
        numbers.push(sequence);
        if (numbers.length === count) break;
      }
    })();
    while (numbers.length < count) await jest.advanceTimersByTimeAsync(1_000);
    await reading;
    return numbers;
  }

  test.each<[string, readonly (() => Answer)[]]>([
    ['ends', [() => streamed(logged(5, 6)), () => streamed(logged(7))]],
    ['breaks', [() => streamed(logged(5, 6), 'break'), () => streamed(logged(7))]],
    ['is silent', [() => streamed(logged(5, 6), 'silence'), () => streamed(logged(7))]],
    [
      'cannot be opened',
      [() => streamed(logged(5, 6)), lost, refused(503, 'x'), lost, lost, lost, lost, () => streamed(logged(7))],
    ],
  ])('resumes after the last event if the connection %s', async (_, answers) => {
    const script = new ScriptedFetch(...answers);
    expect(await first(3, script)).toEqual([5, 6, 7]);
    expect(script.headers('last-event-id')).toEqual([null, ...answers.slice(1).map(() => '6')]);
    expect(new Set(script.asked.map(({ url }) => url.search))).toEqual(
      new Set(['?after=4&types=message.sent%2Cbalance.low']),
    );
    expect(script.headers('accept')[0]).toBe('text/event-stream');
  });

  test('resumes after an id that came without an event, so events of other types are skipped', async () => {
    const script = new ScriptedFetch(
      () => streamed([...logged(5), 'id: 90\n\n'], 'break'),
      () => streamed(logged(91)),
    );
    expect(await first(2, script)).toEqual([5, 91]);
    expect(script.headers('last-event-id')).toEqual([null, '90']);
  });

  test('reports when the connection is open, and when and why it waits for another one', async () => {
    const script = new ScriptedFetch(
      () => streamed(logged(5)),
      lost,
      () => streamed(logged(6)),
    );
    const states: unknown[] = [];
    const controller = new AbortController();
    const events = eventsOf(script).stream({
      signal: controller.signal,
      onState: (state, error) => states.push(error === undefined ? state : [state, error.code]),
    });
    for (const sequence of [5, 6]) {
      const next = events.next();
      await jest.advanceTimersByTimeAsync(5_000);
      expect(await next).toMatchObject({ value: { sequence } });
    }
    expect(states).toEqual(['open', 'waiting', ['waiting', 'network_error'], 'open']);
    await events.return();
  });

  test('treats a heartbeat as a sign of life', async () => {
    let send: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        send = controller;
      },
    });
    const script = new ScriptedFetch(() => new Response(body));
    const events = eventsOf(script).stream();
    const next = events.next();
    for (let beat = 0; beat < 10; beat++) {
      await jest.advanceTimersByTimeAsync(30_000);
      send?.enqueue(new TextEncoder().encode(': heartbeat\n\n'));
    }
    send?.enqueue(new TextEncoder().encode(logged(1).join('')));
    expect(await next).toMatchObject({ value: { sequence: 1 } });
    expect(script.asked).toHaveLength(1);
    await events.return();
  });

  test('closes the connection when its reader leaves', async () => {
    const left = jest.fn();
    const script = new ScriptedFetch(() => streamed(logged(5), 'silence', left));
    expect(await first(1, script)).toEqual([5]);
    expect(left).toHaveBeenCalledTimes(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('closes the connection and throws the reason when its signal is aborted', async () => {
    const left = jest.fn();
    const controller = new AbortController();
    const script = new ScriptedFetch(() => streamed(logged(5), 'silence', left));
    const events = eventsOf(script).stream({ signal: controller.signal });
    expect(await events.next()).toMatchObject({ value: { sequence: 5 } });
    const next = events.next();
    const reason = new Error('stop');
    controller.abort(reason);
    await expect(next).rejects.toBe(reason);
    expect(left).toHaveBeenCalledTimes(1);
    expect(jest.getTimerCount()).toBe(0);
  });

  test('throws a refusal with the earliest number that is kept', async () => {
    const gone = refused(410, 'events_gone', { 'x-earliest-sequence': '900' });
    const stream = eventsOf(new ScriptedFetch(gone)).stream({ after: 4 });
    await expect(stream.next()).rejects.toMatchObject({ status: 410, code: 'events_gone', earliest: 900 });
  });

  test('the stream of codes to scan ends with the link', async () => {
    const news = [
      'event: status\ndata: {"sessionID":"s","status":"created"}\n\n',
      'event: qr\ndata: {"qr":"2@4","image":"data:","expires_at":"x"}\n\n',
    ];
    const linked = 'event: status\ndata: {"sessionID":"s","status":"connected","number":"22670000100"}\n\n';
    const script = new ScriptedFetch(
      () => streamed(news, 'break'),
      () => streamed([linked, ...news], 'silence'),
    );
    const client = new MessagingClient({ baseUrl: BASE, fetch: script.fetch });
    const all = allOf(client.msgapp().watchCode('token'));
    await jest.advanceTimersByTimeAsync(5_000);
    expect(await all).toEqual([
      { type: 'status', sessionID: 's', status: 'created' },
      { type: 'qr', qr: '2@4', image: 'data:', expires_at: 'x' },
      { type: 'status', sessionID: 's', status: 'connected', number: '22670000100' },
    ]);
    expect(jest.getTimerCount()).toBe(0);
  });
});
