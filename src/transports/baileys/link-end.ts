import type { LinkEnd } from '../../msgapp/msgapp-transport.js';

/** How far a connection had come when it ended. */
export interface LinkStage {
  /** Somebody has scanned a code of this session, now or before. */
  readonly linked: boolean;
  /** This connection has shown a code. */
  readonly codeShown: boolean;
}

/**
 * What an end of Baileys' connection means for its session, by the code it gives (`DisconnectReason` and the reasons of a
 * refused login; the unwritten ones as other projects have found them).
 */
export function linkEndOf(error: unknown, stage: LinkStage): LinkEnd {
  const { status, reason } = failureOf(error);
  switch (status) {
    case 515:
      return { next: 'restart', reason: 'restart_required' };
    case 428:
      return { next: 'retry', reason: 'connection_closed' };
    case 408:
      return timedOut(stage);
    case 503:
      return { next: 'retry', reason: 'server_unavailable' };
    case 500:
      return { next: 'retry-few', reason: 'stream_error' };
    case 440:
      return { next: 'give-up', status: 'replaced', reason: 'replaced' };
    case 401:
      return { next: 'give-up', status: 'logged_out', reason: conflictOf(error) ?? 'login_refused' };
    case 402:
      return { next: 'give-up', status: 'banned', reason: 'banned_for_a_time' };
    case 403:
    case 406:
      return { next: 'give-up', status: 'banned', reason: status === 403 ? 'forbidden' : 'banned' };
    case 405:
      return { next: 'give-up', status: 'failed', reason: 'client_version_refused' };
    case 411:
      return { next: 'give-up', status: 'failed', reason: 'multi_device_mismatch' };
    default:
      return { next: 'retry-few', reason };
  }
}

/** One code for two things: the network is gone, or all codes have been shown and nobody came. */
function timedOut({ linked, codeShown }: LinkStage): LinkEnd {
  if (linked) return { next: 'retry', reason: 'connection_lost' };
  if (codeShown) return { next: 'give-up', status: 'expired', reason: 'not_scanned' };
  return { next: 'retry-few', reason: 'connection_lost' };
}

/** `device_removed` when the owner unlinked the session on the phone. */
function conflictOf(error: unknown): string | undefined {
  const node: unknown = error instanceof Error ? Reflect.get(error, 'data') : undefined;
  const attrs: unknown = typeof node === 'object' && node !== null ? Reflect.get(node, 'attrs') : undefined;
  const type: unknown = typeof attrs === 'object' && attrs !== null ? Reflect.get(attrs, 'type') : undefined;
  return type === 'device_removed' ? type : undefined;
}

/** What is left of anything that Baileys throws or rejects with: it may be a Boom, an Error, or the number of a WebSocket's end. */
interface Failure {
  /** Baileys' code (`DisconnectReason`, or an HTTP status), where there is one. */
  readonly status: number | undefined;
  /** Short, and without anything that was said or sent. */
  readonly reason: string;
}

export function failureOf(thrown: unknown): Failure {
  if (typeof thrown === 'number') return { status: undefined, reason: `socket_closed_${thrown}` };
  if (!(thrown instanceof Error)) return { status: undefined, reason: 'unknown_error' };
  const status = statusOf(thrown);
  if (status !== undefined) return { status, reason: `code_${status}` };
  return { status: undefined, reason: codeOf(thrown) ?? thrown.name };
}

/** `error.output.statusCode`, as a Boom has it. */
function statusOf(error: Error): number | undefined {
  const output: unknown = Reflect.get(error, 'output');
  const status: unknown = typeof output === 'object' && output !== null ? Reflect.get(output, 'statusCode') : undefined;
  return typeof status === 'number' ? status : undefined;
}

/** The system's code: `ECONNREFUSED`. */
function codeOf(error: Error): string | undefined {
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' ? code : undefined;
}
