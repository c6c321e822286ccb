import type { ErrorCode } from '../../common/errors.js';
import type { Dialect } from '../../storage/dialect.js';
import type { Operation, Statement } from '../../storage/engine/operation.js';
import type { SendPolicy } from '../policy/send-policy.js';

/**
 * A change of a capability's own rows that belongs to a send. It is stored in the transaction of the send, or not at all. Example:
 * the recipients of a campaign leave it in the transaction that accepts their SMS.
 */
export interface SendStep {
  /**
   * Locks and reads the rows, after the accounts of the batch are locked. Returns the error with which the send is refused, or
   * undefined. Other sends of the batch wait for its locks, so no transaction may hold them for long. It must have no side effects,
   * because it runs again if the transaction is repeated. Without it, the step refuses nothing.
   */
  check?(dialect: Dialect): Operation<ErrorCode | undefined>;
  /** The statements of the change, which are written if the send is accepted. Their order does not matter. */
  write(dialect: Dialect, send: SteppedSend): readonly Statement[];
}

/** The part of a send that its step can use. */
export interface SteppedSend {
  readonly id: string;
  readonly recipients: readonly { readonly units: number }[];
}

interface Stepping {
  readonly step?: SendStep;
  readonly policy?: SendPolicy;
}

/** Checks the steps of sends. A send that its step refuses gets a policy that refuses it. */
export function* checkSteps<S extends Stepping>(dialect: Dialect, sends: readonly S[]): Operation<readonly S[]> {
  if (!sends.some(({ step }) => step)) return sends;
  const checked: S[] = [];
  for (const send of sends) {
    const code = send.step?.check && (yield* send.step.check(dialect));
    checked.push(code === undefined ? send : { ...send, policy: refusing(code) });
  }
  return checked;
}

function refusing(code: ErrorCode): SendPolicy {
  const refusal = { code, values: {} };
  return { keys: [], decide: () => ({ refusal }) };
}
