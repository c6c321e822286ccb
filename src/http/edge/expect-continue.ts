import type { IncomingMessage, ServerResponse } from 'node:http';

/** The part of Node's HTTP server that is used here. */
export interface ContinuingServer {
  on(event: 'checkContinue', listener: (req: IncomingMessage, res: ServerResponse) => void): unknown;
  emit(event: 'request', req: IncomingMessage, res: ServerResponse): boolean;
  listenerCount(event: 'checkContinue'): number;
}

/** Whether the edge receives the body of a request. */
export type BodyTest = (req: IncomingMessage) => boolean;

/** Requests of ours whose clients wait for `100 Continue` before they send the body. */
const waiting = new WeakSet<IncomingMessage>();

/**
 * Delays `100 Continue` on our routes until the body is wanted (RFC 9110 section 10.1.1); Node would send it at once. Other
 * requests get it at once. Does nothing when the host has a `checkContinue` listener of its own.
 */
export function holdContinue(server: ContinuingServer, isOurs: BodyTest): void {
  if (server.listenerCount('checkContinue') > 0) return;
  server.on('checkContinue', (req, res) => {
    if (isOurs(req)) waiting.add(req);
    else res.writeContinue();
    server.emit('request', req, res);
  });
}

/** Whether the client waits for `100 Continue` before it sends the body. */
export function waitsForContinue(req: IncomingMessage): boolean {
  return waiting.has(req);
}

/** Sends `100 Continue` when the client waits for it. */
export function sendContinue(req: IncomingMessage, res: ServerResponse): void {
  if (waiting.delete(req)) res.writeContinue();
}
