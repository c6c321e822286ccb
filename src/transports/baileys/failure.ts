/** What is left of anything that Baileys throws or rejects with: it may be a Boom, an Error, or the number of a WebSocket's end. */
export interface Failure {
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
