import type { LinkEnd } from '../../msgapp/msgapp-transport.js';

/** The progress of a connection before its end. */
export interface LinkStage {
  /** Whether a code of this session was scanned, in this connection or before. */
  readonly linked: boolean;
  /** Whether this connection showed a code. */
  readonly codeShown: boolean;
}

/**
 * Returns what the end of a connection means for its session, by Baileys' code: `DisconnectReason` and the reasons of a refused
 * login. Some codes are undocumented. Other projects have found their meanings.
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

/** Baileys uses code 408 for a lost network and for QR codes that were not scanned. */
function timedOut({ linked, codeShown }: LinkStage): LinkEnd {
  if (linked) return { next: 'retry', reason: 'connection_lost' };
  if (codeShown) return { next: 'give-up', status: 'expired', reason: 'not_scanned' };
  return { next: 'retry-few', reason: 'connection_lost' };
}

/** Returns `device_removed` if the owner has unlinked the session on the phone. */
function conflictOf(error: unknown): string | undefined {
  const node: unknown = error instanceof Error ? Reflect.get(error, 'data') : undefined;
  const attrs: unknown = typeof node === 'object' && node !== null ? Reflect.get(node, 'attrs') : undefined;
  const type: unknown = typeof attrs === 'object' && attrs !== null ? Reflect.get(attrs, 'type') : undefined;
  return type === 'device_removed' ? type : undefined;
}

/** An error of Baileys, which may be a Boom, an Error, or the close code of a WebSocket. */
interface Failure {
  /** Baileys' code (`DisconnectReason` or an HTTP status), if there is one. */
  readonly status: number | undefined;
  /** A short reason without content of messages. */
  readonly reason: string;
}

export function failureOf(thrown: unknown): Failure {
  if (typeof thrown === 'number') return { status: undefined, reason: `socket_closed_${thrown}` };
  if (!(thrown instanceof Error)) return { status: undefined, reason: 'unknown_error' };
  const status = statusOf(thrown);
  if (status !== undefined) return { status, reason: `code_${status}` };
  return { status: undefined, reason: codeOf(thrown) ?? thrown.name };
}

/** Returns `error.output.statusCode` of a Boom. */
function statusOf(error: Error): number | undefined {
  const output: unknown = Reflect.get(error, 'output');
  const status: unknown = typeof output === 'object' && output !== null ? Reflect.get(output, 'statusCode') : undefined;
  return typeof status === 'number' ? status : undefined;
}

/** Returns the system's code, such as `ECONNREFUSED`. */
function codeOf(error: Error): string | undefined {
  const code: unknown = Reflect.get(error, 'code');
  return typeof code === 'string' ? code : undefined;
}
