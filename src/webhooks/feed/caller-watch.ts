import { Injectable } from '@nestjs/common';
import { Admission } from '../../accounts/admission.js';
import type { AdmittedCall } from '../../accounts/admitted-call.decorator.js';
import { type Answer, Authenticator, type Caller } from '../../accounts/keys/authenticator.js';
import { Clock } from '../../common/clock.js';

/**
 * How often our own credentials are checked again, in milliseconds. A key or a user session of ours comes from a cache that is
 * valid for four seconds, so its end takes effect within five seconds. For other user tokens the host's verifier is asked.
 */
const OWN_MS = 1_000;
const TOKEN_MS = 4_000;

/** Ends a long answer, such as a stream, if the caller loses his right to it meanwhile. */
@Injectable()
export class CallerWatch {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly admission: Admission,
    private readonly clock: Clock,
  ) {}

  /**
   * Calls `lost` once if the credential is revoked or expires, if it no longer belongs to the caller, or if the caller may no
   * longer use the route. A caller who was admitted by the host's own guard has no credential to check.
   *
   * @param signal ends the watch
   */
  watch(caller: Caller, call: AdmittedCall, signal: AbortSignal, lost: () => void): void {
    if (call.by !== this.authenticator) return;
    const intervalMs = caller.via === 'user-token' && caller.userSessionId === undefined ? TOKEN_MS : OWN_MS;
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

  /** Checks the credential. Undefined: the storage or the verifier does not answer, so the result is unknown. */
  private async answer(call: AdmittedCall): Promise<Answer | undefined> {
    try {
      return await this.admission.admit(await this.authenticator.authenticate(call.headers), call.permission, call);
    } catch {
      return undefined;
    }
  }
}
