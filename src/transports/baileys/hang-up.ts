import { EventEmitter, once } from 'node:events';
import type { WASocket } from 'baileys';
import type { Clock } from '../../common/clock.js';
import { within } from '../../common/within.js';

/** How long a socket may take to close in order. */
const CLOSE_MS = 2000;

/** `WebSocket.CLOSED`. */
const CLOSED = 3;

interface Wire extends EventEmitter {
  readonly readyState: number;
  terminate(): void;
}

/** Closes a connection; one whose other side does not answer is cut off, where Baileys would wait for half a minute. */
export async function hangUp(socket: Pick<WASocket, 'end' | 'ws'>, clock: Clock): Promise<void> {
  // Baileys may have let go of it already.
  const wire: unknown = Reflect.get(socket.ws, 'socket');
  socket.end(undefined).catch(() => undefined);
  if (!isWire(wire) || wire.readyState === CLOSED) return;
  const closed = once(wire, 'close').then(() => true);
  if (!(await within(clock, CLOSE_MS, closed))) wire.terminate();
}

function isWire(value: unknown): value is Wire {
  return value instanceof EventEmitter && 'readyState' in value && 'terminate' in value;
}
