import type { IncomingMessage, ServerResponse } from 'node:http';

/** Node's HTTP server, as far as we use it. */
export interface ContinuingServer {
  on(event: 'checkContinue', listener: (req: IncomingMessage, res: ServerResponse) => void): unknown;
  emit(event: 'request', req: IncomingMessage, res: ServerResponse): boolean;
  listenerCount(event: 'checkContinue'): number;
}

/** Tells whether the edge will take in the body of a request. */
export type BodyTest = (req: IncomingMessage) => boolean;

/** Requests of ours whose clients wait for `100 Continue` before they send the body. */
const waiting = new WeakSet<IncomingMessage>();

/**
 * Holds the `100 Continue` of requests to our routes back until their bodies are wanted (RFC 9110 section 10.1.1); Node would
 * send it at once. Other requests get it at once, as ever. A host that answers expectations itself goes on to do so.
 */
export function holdContinue(server: ContinuingServer, isOurs: BodyTest): void {
  if (server.listenerCount('checkContinue') > 0) return;
  server.on('checkContinue', (req, res) => {
    if (isOurs(req)) waiting.add(req);
    else res.writeContinue();
    server.emit('request', req, res);
  });
}

/** Whether the client of a request holds its body back. */
export function waitsForContinue(req: IncomingMessage): boolean {
  return waiting.has(req);
}

/** Asks for the body, where the client waits to be asked. */
export function sendContinue(req: IncomingMessage, res: ServerResponse): void {
  if (waiting.delete(req)) res.writeContinue();
}
