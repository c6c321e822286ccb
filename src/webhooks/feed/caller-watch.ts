import { Injectable } from '@nestjs/common';
import { Admission } from '../../accounts/admission.js';
import type { AdmittedCall } from '../../accounts/admitted-call.decorator.js';
import { type Answer, Authenticator, type Caller } from '../../accounts/keys/authenticator.js';
import { Clock } from '../../common/clock.js';

/**
 * How often a credential is looked at again, in milliseconds. A key and a session of ours come from a cache that is believed
 * for four seconds, so their end counts within five; another user token is asked for at the host's verifier.
 */
const OWN_MS = 1_000;
const TOKEN_MS = 4_000;

/** Ends what a caller is given for long when he loses his right to it meanwhile. */
@Injectable()
export class CallerWatch {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly admission: Admission,
    private readonly clock: Clock,
  ) {}

  /**
   * Calls `lost` once when the credential is no longer the caller's, revoked or expired, or the caller may not use the route any
   * more. A caller whom the host's own guard has admitted has no credential to look at.
   *
   * @param signal ends the watch
   */
  watch(caller: Caller, call: AdmittedCall, signal: AbortSignal, lost: () => void): void {
    if (call.by !== this.authenticator) return;
    const intervalMs = caller.via === 'user-token' && caller.sessionId === undefined ? TOKEN_MS : OWN_MS;
    let cancel = () => {};
    const look = async (): Promise<void> => {
      const answer = await this.answer(call);
      if (signal.aborted) return;
      const isHis = answer?.kind === 'caller' && answer.caller.accountId === caller.accountId;
      if (answer !== undefined && !isHis) {
        lost();
        return;
      }
      cancel = this.clock.after(intervalMs, () => void look());
    };
    signal.addEventListener('abort', () => cancel(), { once: true });
    void look();
  }

  /** Undefined while it cannot be known: the storage or the verifier does not answer. */
  private async answer(call: AdmittedCall): Promise<Answer | undefined> {
    try {
      return await this.admission.admit(await this.authenticator.authenticate(call.headers), call.permission, call);
    } catch {
      return undefined;
    }
  }
}
